internal import Glibc
package import SystemPackage
internal import ZoetropeShims

// Unsafe code: calls of the C library that take a pointer, each behind a function on values. Every
// pointer is valid for the call it is passed to and is not kept by it; where the system writes, the
// size of the buffer is passed along or fixed by the type.

/// What the system says of a file.
package struct FileStatus {
  private let status: stat

  /// The status of what is at `path`; nil when nothing is.
  package init?(at path: FilePath, followsLinks: Bool = true) {
    var status = stat()
    let result = unsafe path.withPlatformString {
      unsafe followsLinks ? stat($0, &status) : lstat($0, &status)
    }
    guard result == 0 else { return nil }
    self.status = status
  }

  /// The status of what `descriptor` is open for.
  package init?(of descriptor: FileDescriptor) {
    var status = stat()
    guard unsafe fstat(descriptor.rawValue, &status) == 0 else { return nil }
    self.status = status
  }

  package var device: UInt64 { UInt64(status.st_dev) }
  package var inode: UInt64 { UInt64(status.st_ino) }
  package var byteCount: Int { Int(status.st_size) }
  /// Whether it still has a name.
  package var isLinked: Bool { status.st_nlink > 0 }
  package var isDirectory: Bool { kind == S_IFDIR }
  /// Whether it is a file with bytes of its own, no directory, pipe or device.
  package var isRegular: Bool { kind == S_IFREG }
  /// Whether it is a pipe, a socket or a character device, which can only be read in order.
  package var isPipe: Bool { [S_IFIFO, S_IFSOCK, S_IFCHR].contains(kind) }

  private var kind: mode_t { status.st_mode & S_IFMT }
}

/// Changes to directories. Each function returns the error, or nil on success.
enum FileSystem {
  static func link(_ path: FilePath, as other: FilePath) -> Errno? {
    unsafe call(path, other) { unsafe Glibc.link($0, $1) }
  }

  static func rename(_ path: FilePath, to other: FilePath) -> Errno? {
    unsafe call(path, other) { unsafe Glibc.rename($0, $1) }
  }

  @discardableResult
  static func remove(_ path: FilePath) -> Errno? {
    unsafe call(path, path) { first, _ in unsafe unlink(first) }
  }

  static func makeDirectory(_ path: FilePath) -> Errno? {
    unsafe call(path, path) { first, _ in unsafe mkdir(first, 0o777) }
  }

  /// The destination of the symbolic link at `path`; nil when it is not a link.
  static func destination(ofLink path: FilePath) -> FilePath? {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = unsafe path.withPlatformString { unsafe readlink($0, &buffer, buffer.count) }
    guard count > 0 else { return nil }
    return FilePath(bytes: buffer[..<count].map { UInt8(bitPattern: $0) })
  }

  /// Calls `body` with each name in `directory`.
  static func forEachName(in directory: FilePath, _ body: (String) -> Void) {
    guard let stream = unsafe directory.withPlatformString({ unsafe opendir($0) }) else { return }
    defer { unsafe closedir(stream) }
    while let entry = unsafe readdir(stream) {
      // `d_name` holds a NUL-terminated name of at most 255 bytes.
      body(
        unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
            unsafe String(cString: $0)
          }
        })
    }
  }

  private static func call(
    _ first: FilePath, _ second: FilePath,
    _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
  ) -> Errno? {
    unsafe first.withPlatformString { first in
      unsafe second.withPlatformString { second in
        unsafe body(first, second) == 0 ? nil : Errno(rawValue: errno)
      }
    }
  }
}

extension FilePath {
  /// A path of exactly these bytes, whatever their encoding.
  package init(bytes: [UInt8]) {
    let characters: [CInterop.PlatformChar] = bytes.map { CInterop.PlatformChar(bitPattern: $0) }
    // The array ends in a NUL, and the initializer copies it.
    self.init(platformString: characters + [0])
  }

  /// The bytes of the path.
  package var bytes: [UInt8] {
    unsafe withPlatformString { pointer in
      // The string ends at its NUL, `length` bytes on.
      unsafe Array(UnsafeBufferPointer(start: pointer, count: length)).map {
        UInt8(bitPattern: $0)
      }
    }
  }
}

extension FileDescriptor {
  /// Writes some of `bytes` from `start` on; returns how many.
  func writeSome(_ bytes: [UInt8], from start: Int) throws -> Int {
    try unsafe bytes.withUnsafeBytes { buffer in
      unsafe try write(
        UnsafeRawBufferPointer(rebasing: buffer[start...]), retryOnInterrupt: false)
    }
  }

  /// The first `count` bytes of a file, or as many as there are.
  package func prefix(_ count: Int) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let found = unsafe buffer.withUnsafeMutableBytes {
      unsafe (try? read(fromAbsoluteOffset: 0, into: $0)) ?? 0
    }
    return Array(buffer.prefix(found))
  }

  /// The size of the terminal; nil when this is not a terminal or its size is unknown.
  package var terminalSize: (columns: Int, rows: Int, pixelWidth: Int, pixelHeight: Int)? {
    var size = winsize()
    guard unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row), Int(size.ws_xpixel), Int(size.ws_ypixel))
  }
}

extension [UInt8] {
  /// Appends the bytes of `span`, which are copied within the call.
  package mutating func append(_ span: RawSpan) {
    unsafe span.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}

/// The bytes of the command line's arguments.
package enum RawArguments {
  /// The bytes of the argument whose text is `argument`.
  ///
  /// Only an argument with a replacement character can differ from its bytes; its bytes come from
  /// the first argument of the process that decodes to the same text.
  package static func bytes(of argument: String) -> [UInt8] {
    guard argument.unicodeScalars.contains("\u{fffd}") else { return Array(argument.utf8) }
    for index in 1..<max(1, Int(CommandLine.argc)) {
      // Entries below `argc` are NUL-terminated strings that live as long as the process.
      guard let pointer = unsafe CommandLine.unsafeArgv[index] else { continue }
      guard unsafe String(cString: pointer) == argument else { continue }
      return unsafe UnsafeBufferPointer(start: pointer, count: strlen(pointer)).map {
        UInt8(bitPattern: $0)
      }
    }
    return Array(argument.utf8)
  }
}

/// How the allocator treats the memory of frames.
package enum FrameMemory {
  /// Returns blocks of a frame's size to the system as soon as they are freed.
  ///
  /// By default the allocator raises its threshold when the first large block is freed, and from
  /// then on keeps such blocks in every thread's arena: 63 MiB where 43 are in use, while playing
  /// 640 x 480 pixels.
  package static func returnsAtOnce() {
    zt_return_freed_blocks(256 << 10)
  }
}
