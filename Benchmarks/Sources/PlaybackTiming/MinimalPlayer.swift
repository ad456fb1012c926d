import Glibc
import Synchronization
import Zoetrope

/// The least that playing can be: one thread that waits for the next deadline, decodes one frame and
/// wakes a second one, which takes it. Nothing is decided, nothing can be stopped.
///
/// What it costs over decoding is the machine's: two sleeps, two wake-ups, and caches that others
/// have used meanwhile.
enum MinimalPlayer {
  private final class Shared: Sendable {
    let frame = Mutex<CompositedFrame?>(nil)
    let isOver = Atomic<Bool>(false)
    let signal = Semaphore()
    let ended = Semaphore()
  }

  /// - Parameter decodes: Whether frames are decoded at all; else the wake-ups alone are left.
  static func play(
    _ image: AnimatedImage, count: Int, decodes: Bool = true, _ meter: Meter
  ) async {
    let shared = Shared()
    NativeThread.start {
      // Keeps what it shows until the next one is there, as a screen does.
      var shown: CompositedFrame?
      while !shared.isOver.load(ordering: .acquiring) {
        shared.signal.wait()
        shown = shared.frame.withLock { $0.take() } ?? shown
      }
      _ = shown
      shared.ended.post()
    }
    await withCheckedContinuation { continuation in
      NativeThread.start {
        let reader = FrameReader(image)
        var pace = Pace(interval: 20_000_000)
        for _ in 0..<count {
          pace.sleep()
          let frame = decodes ? nextFrame(reader) : nil
          shared.frame.withLock { $0 = frame }
          shared.signal.post()
          meter.tick()
        }
        shared.isOver.store(true, ordering: .releasing)
        shared.signal.post()
        shared.ended.wait()
        continuation.resume()
      }
    }
  }

  private static func nextFrame(_ reader: FrameReader) -> CompositedFrame? {
    if let frame = try? reader.next() { return frame }
    reader.rewind()
    return try? reader.next()
  }
}
