internal import Glibc

/// A file that could not be read, written or listed.
public struct FixtureFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path.
  public let path: String
  /// The system's error number.
  public let errno: Int32

  /// The path and the system's words.
  public var description: String {
    // strerror returns a string of the library that ends with a zero byte; it is copied at once.
    let words = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error"
    return "\(path): \(words)"
  }
}

/// Whole files for fixtures and their tool. Blocking; small files only.
public enum FixtureFile {
  /// The bytes of the file at `path`.
  public static func read(_ path: String) throws(FixtureFileError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FixtureFileError(path: path, errno: errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      // The length passed is the buffer's own.
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FixtureFileError(path: path, errno: errno) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// Writes `bytes` to `path`, replacing an existing file.
  public static func write(_ bytes: [UInt8], to path: String) throws(FixtureFileError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw FixtureFileError(path: path, errno: errno) }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FixtureFileError(path: path, errno: errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// The names in a folder, sorted; `.` and `..` are left out.
  public static func list(_ path: String) throws(FixtureFileError) -> [String] {
    guard let folder = unsafe opendir(path) else {
      throw FixtureFileError(path: path, errno: errno)
    }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      // d_name ends with a zero byte inside the entry, which lives until the next call.
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Creates a folder; an existing one is left unchanged.
  public static func makeFolder(_ path: String) throws(FixtureFileError) {
    guard unsafe mkdir(path, 0o755) == 0 || errno == EEXIST else {
      throw FixtureFileError(path: path, errno: errno)
    }
  }
}
