import Synchronization
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// Writes frames as PNG files while playback continues.
///
/// The files are written to the working directory and never replace existing files. If a name is already used, a number
/// is added to it.
final class FrameExport: Sendable {
  private struct Progress {
    var message: String?
    var thread: SystemThread?
  }

  private let isCancelled = Atomic<Bool>(false)
  private let isRunning = Atomic<Bool>(false)
  private let progress = Mutex(Progress())

  /// Starts to write the frames in `range`. Returns false if frames are still being written, or if no thread can be
  /// started.
  func start(_ image: AnimatedImage, range: Range<Int>, stem: [UInt8]) -> Bool {
    guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else { return false }
    let thread = SystemThread { [self] in
      let text = run(image, range, stem)
      progress.withLock { $0.message = text }
      isRunning.store(false, ordering: .releasing)
      WakePipe.wake()
    }
    if thread == nil { isRunning.store(false, ordering: .releasing) }
    let before = progress.withLock { progress in
      defer { progress.thread = thread }
      return progress.thread
    }
    // The previous thread has ended, because `isRunning` was false.
    before?.join()
    return thread != nil
  }

  /// Returns the message for the status line, and removes it. Returns nil if there is none.
  func takeMessage() -> String? { progress.withLock { $0.message.take() } }

  /// Stops decoding, or waits until the frame that is being written has been written. No message remains.
  func cancel() {
    isCancelled.store(true, ordering: .relaxed)
    let thread = progress.withLock { $0.thread.take() }
    thread?.join()
    isCancelled.store(false, ordering: .relaxed)
    progress.withLock { $0.message = nil }
  }

  private func run(_ image: AnimatedImage, _ range: Range<Int>, _ stem: [UInt8]) -> String {
    let reader = FrameReader(image)
    var count = 0
    do {
      for index in range where !isCancelled.load(ordering: .relaxed) {
        // Before a frame in the middle, all earlier frames may have to be decoded.
        let frame = try reader.frame(at: index) { self.isCancelled.load(ordering: .relaxed) }
        _ = try Self.save(frame.bitmap, index: index, of: image.frames.count, stem: stem)
        count += 1
      }
      return "saved \(count.counted("frame"))"
    } catch {
      // Only the detail of an error is shown, because an error counts frames from 0, whereas the screen counts them
      // from 1.
      let reason = (error as? AnimatedImageError)?.detail ?? "\(error)"
      return "stopped after saving \(count.counted("frame")): \(reason)"
    }
  }

  /// Writes one of `count` frames to the working directory, and returns the name of the file.
  ///
  /// The command `extract` gives the frame the same name. The name contains the frame's index, which counts from 0,
  /// whereas the status line counts frames from 1.
  static func save(_ bitmap: Bitmap, index: Int, of count: Int, stem: [UInt8]) throws -> FilePath {
    let number = String(index).paddedLeft(to: max(String(count - 1).count, 4), with: "0")
    let bytes = try PNGEncoder().encode(bitmap)
    var attempt = 0
    while true {
      let suffix = "-\(number)\(attempt == 0 ? "" : "-\(attempt)").png"
      let path = FilePath(bytes: stem + Array(suffix.utf8))
      do throws(WriteFailure) {
        try OutputFile.write(bytes, to: path, isReplacing: false)
        return path
      } catch {
        guard case .exists = error, attempt < 100 else { throw error }
      }
      attempt += 1
    }
  }
}
