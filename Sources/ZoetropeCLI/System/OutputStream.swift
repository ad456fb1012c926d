import Glibc
import SystemPackage

/// An output that takes bytes in order: standard output, a pipe, a device, an open descriptor.
///
/// Such a thing is never replaced by a file: it is opened and written, as `cp` and `ffmpeg` do.
struct OutputStream: Hashable, Sendable {
  let descriptor: FileDescriptor
  /// What errors call it.
  let name: String
  /// Whether ``close()`` closes it.
  private let isOwned: Bool

  static let standardOutput = OutputStream(
    descriptor: .standardOutput, name: "standard output", isOwned: false)

  private init(descriptor: FileDescriptor, name: String, isOwned: Bool) {
    (self.descriptor, self.name, self.isOwned) = (descriptor, name, isOwned)
  }

  /// Opens what `path` names. A pipe without a reader waits for one, unless a signal comes.
  init(_ path: FilePath) throws(WriteFailure) {
    if let number = Self.descriptor(named: path) {
      // Not opened anew: that would start a file at its beginning, and a socket cannot be opened.
      self.init(
        descriptor: FileDescriptor(rawValue: number), name: "\(path)", isOwned: false)
      return
    }
    self.init(descriptor: try Self.open(path), name: "\(path)", isOwned: true)
  }

  private static func open(_ path: FilePath) throws(WriteFailure) -> FileDescriptor {
    // Writing to a terminal must not make it this process's own.
    let options: FileDescriptor.OpenOptions = [.closeOnExec, .init(rawValue: O_NOCTTY)]
    while true {
      do {
        return try FileDescriptor.open(path, .writeOnly, options: options, retryOnInterrupt: false)
      } catch Errno.interrupted {
        if let status = SignalFlag.status { throw .stopped(status) }
      } catch {
        throw .system(error as? Errno ?? .ioError, "\(path)")
      }
    }
  }

  /// Closes what ``init(_:)`` opened.
  func close() { if isOwned { try? descriptor.close() } }

  /// Whether `path` can only be written in order: there, and neither a file nor a directory.
  static func isNeeded(for path: FilePath) -> Bool {
    if descriptor(named: path) != nil { return true }
    var status = stat()
    guard unsafe path.withPlatformString({ unsafe stat($0, &status) }) == 0 else { return false }
    return ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
  }

  /// The descriptor that `path` is another name of, as shells hand them out for `>(command)`.
  private static func descriptor(named path: FilePath) -> Int32? {
    switch path.string {
    case "/dev/stdout": return STDOUT_FILENO
    case "/dev/stderr": return STDERR_FILENO
    default: break
    }
    for prefix in ["/dev/fd/", "/proc/self/fd/"] where path.string.hasPrefix(prefix) {
      guard let number = Int32(path.string.dropFirst(prefix.count)), number >= 0 else { return nil }
      return fcntl(number, F_GETFD) == -1 ? nil : number
    }
    return nil
  }
}
