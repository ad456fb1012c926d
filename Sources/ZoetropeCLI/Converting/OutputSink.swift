internal import Synchronization
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The destination of the bytes of an animation that a command writes: a stream, or a file that gets its name when it
/// is complete.
///
/// The bytes come from the threads that compress frames, but only one thread at a time writes to the sink.
final class OutputSink: AnimationSink {
  private enum Target {
    case file(PendingFile)
    case stream(OutputStream)
    case none
  }

  private let target: Mutex<Target>
  private let stopped = Mutex<WriteFailure?>(nil)
  /// Whether bytes have been passed to a stream, which cannot take them back.
  private let isStreamed = Atomic(false)

  /// Creates the file under a temporary name, or opens the stream.
  init(_ place: AnimationDestination.Place, isReplacing: Bool) throws(WriteFailure) {
    switch place {
    case .stream(nil): target = Mutex(.stream(.standardOutput))
    case .stream(let path?): target = Mutex(.stream(try OutputStream(path)))
    case .file(let path):
      let directory = OutputFile.directory(of: path)
      try OutputFile.makeDirectory(directory)
      TemporaryFile.sweep(directory)
      target = Mutex(.file(try PendingFile(path, isReplacing: isReplacing, followsLinks: true)))
    }
  }

  /// The reason why writing stopped, or nil if the output was not the reason.
  var failure: WriteFailure? { stopped.withLock { $0 } }

  /// Whether the reader of a stream may have received bytes. A file that is not complete never appears.
  var hasPassedBytesOn: Bool { isStreamed.load(ordering: .acquiring) }

  // Nothing has to be patched, because the number of frames is known before the first frame is written.
  var canPatch: Bool { false }

  func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError) {
    throw AnimatedImageError(.parameter, "bytes already written to this output cannot be replaced")
  }

  func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    try perform { (target) throws(WriteFailure) in
      switch target {
      case .file(let file): try file.stream.write(bytes)
      case .stream(let stream):
        // A write that a signal stops may have passed some of its bytes on.
        if !bytes.isEmpty { isStreamed.store(true, ordering: .releasing) }
        try stream.write(bytes)
      case .none: break
      }
    }
  }

  func finish() throws(AnimatedImageError) {
    try perform { (target) throws(WriteFailure) in
      let last = target
      target = .none
      switch last {
      case .file(let file):
        // A signal that arrived while the last bytes were written still stops the command.
        if let status = Signals.ending {
          file.discard()
          throw .stopped(status)
        }
        try file.finish()
      case .stream(let stream): stream.close()
      case .none: break
      }
    }
  }

  func abandon() {
    target.withLock { target in
      switch target {
      case .file(let file): file.discard()
      case .stream(let stream): stream.close()
      case .none: break
      }
      target = .none
    }
  }

  private func perform(
    _ body: (inout Target) throws(WriteFailure) -> Void
  ) throws(AnimatedImageError) {
    let failure: WriteFailure? = target.withLock { target in
      do throws(WriteFailure) {
        try body(&target)
        return nil
      } catch {
        return error
      }
    }
    guard let failure else { return }
    stopped.withLock { $0 = $0 ?? failure }
    throw AnimatedImageError(.io, "\(failure)")
  }
}
