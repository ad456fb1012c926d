import Glibc
import Synchronization
import Zoetrope

/// The smallest possible player: one thread waits for the next deadline, decodes a frame and wakes a second thread,
/// which takes it. It makes no decisions and cannot be stopped.
///
/// Its cost beyond decoding is that of the machine: two sleeps, two wake-ups, and caches that other programs have used
/// meanwhile.
enum MinimalPlayer {
  private final class Shared: Sendable {
    let frame = Mutex<CompositedFrame?>(nil)
    let isOver = Atomic<Bool>(false)
    let signal = Semaphore()
    let ended = Semaphore()
  }

  /// - Parameter decodes: Whether frames are decoded. If not, only the wake-ups are measured.
  static func play(
    _ image: AnimatedImage, count: Int, decodes: Bool = true, _ meter: Meter
  ) async {
    let shared = Shared()
    NativeThread.start {
      // Keeps each frame until the next one, as a display does.
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
