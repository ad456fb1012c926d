package import Glibc
package import SystemPackage
internal import ZoetropeShims

// Wrappers for the system calls that take addresses. Each wrapper takes and returns values instead.
//
// Unsafe code: the system reads and writes the caller's memory. Every pointer is valid during the call that receives
// it, and is not kept afterwards. Where the system writes to a buffer, the buffer's size is passed to the call or fixed
// by its type.

/// The status of a file.
package struct FileStatus {
  private let status: stat

  /// Reads the status of the file at `path`, or returns nil if that fails.
  package init?(at path: FilePath, followsLinks: Bool = true) {
    do throws(Errno) { try self.init(checking: path, followsLinks: followsLinks) } catch {
      return nil
    }
  }

  /// Reads the status of the file at `path`. Throws if that fails.
  package init(checking path: FilePath, followsLinks: Bool = true) throws(Errno) {
    var status = stat()
    let result = unsafe path.withPlatformString {
      unsafe followsLinks ? stat($0, &status) : lstat($0, &status)
    }
    guard result == 0 else { throw Errno(rawValue: errno) }
    self.status = status
  }

  /// Reads the status of the open file `descriptor`.
  package init(of descriptor: FileDescriptor) throws(Errno) {
    var status = stat()
    guard unsafe fstat(descriptor.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
    self.status = status
  }

  package var device: UInt64 { UInt64(status.st_dev) }
  package var inode: UInt64 { UInt64(status.st_ino) }
  package var byteCount: Int { Int(status.st_size) }
  /// The number of bytes allocated on disk, which is less than ``byteCount`` if the file has holes.
  package var allocatedBytes: Int { Int(status.st_blocks) * 512 }
  /// The time at which the bytes were last written, in nanoseconds since 1970.
  package var modified: Int64 { status.st_mtim.nanoseconds }
  /// The time at which bytes or attributes last changed, in nanoseconds since 1970.
  var changed: Int64 { status.st_ctim.nanoseconds }
  /// Whether the file still has a name.
  package var isLinked: Bool { status.st_nlink > 0 }
  package var isDirectory: Bool { kind == S_IFDIR }
  /// Whether this is a regular file, not a directory, pipe or device.
  package var isRegular: Bool { kind == S_IFREG }
  var isNamedPipe: Bool { kind == S_IFIFO }
  /// Whether this is a pipe, a socket or a character device, all of which can only be read in order.
  package var isPipe: Bool { [S_IFIFO, S_IFSOCK, S_IFCHR].contains(kind) }

  /// Whether this user owns the file and no other user may read or write it.
  package var isPrivate: Bool { status.st_uid == geteuid() && status.st_mode & 0o077 == 0 }
  /// Whether only this user and root may write the file.
  package var isTrusted: Bool {
    (status.st_uid == 0 || status.st_uid == geteuid()) && status.st_mode & 0o022 == 0
  }
  /// The permission bits.
  var permissions: mode_t { status.st_mode & 0o7777 }

  private var kind: mode_t { status.st_mode & S_IFMT }
}

/// Operations on directories, links and names. A function whose result type is `Errno?` returns nil on success.
package enum FileSystem {
  /// The largest size of files that this process may write. Beyond it, the system would end the process with SIGXFSZ.
  package static var fileSizeLimit: Int { Int(clamping: zt_file_size_limit()) }

  package static func link(_ path: FilePath, as other: FilePath) -> Errno? {
    unsafe call(path, other) { unsafe Glibc.link($0, $1) }
  }

  package static func rename(_ path: FilePath, to other: FilePath) -> Errno? {
    unsafe call(path, other) { unsafe Glibc.rename($0, $1) }
  }

  @discardableResult
  package static func remove(_ path: FilePath) -> Errno? {
    unsafe call(path, path) { first, _ in unsafe unlink(first) }
  }

  package static func makeDirectory(
    _ path: FilePath,
    permissions: FilePermissions = [
      .ownerReadWriteExecute, .groupReadWriteExecute, .otherReadWriteExecute,
    ]
  ) -> Errno? {
    unsafe call(path, path) { first, _ in unsafe mkdir(first, permissions.rawValue) }
  }

  /// Opens a pipe or a device for non-blocking writing. Waits until a named pipe has a reader.
  ///
  /// - Parameter isCancelled: Polled every 20 ms while there is no reader. If it returns true, the method throws
  ///   `canceled`.
  package static func openForWriting(
    stream path: FilePath, isCancelled: () -> Bool
  ) throws(Errno) -> FileDescriptor {
    while true {
      do {
        return try IdleFiles.shared.open {
          try FileDescriptor.open(path, .writeOnly, options: [.closeOnExec, .nonBlocking])
        }
      } catch Errno.noSuchAddressOrDevice where FileStatus(at: path)?.isNamedPipe == true {
        if isCancelled() { throw .canceled }
        usleep(20_000)
      } catch {
        throw error as? Errno ?? .ioError
      }
    }
  }

  /// Throws if this user may not create files in the directory at `path`.
  package static func checkWritable(_ path: FilePath) throws(Errno) {
    let error = unsafe call(path, path) { first, _ in unsafe access(first, W_OK | X_OK) }
    if let error { throw error }
  }

  /// Returns the destination of the symbolic link at `path`, or nil if there is no link at `path`.
  package static func destination(ofLink path: FilePath) -> FilePath? {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = unsafe path.withPlatformString { unsafe readlink($0, &buffer, buffer.count) }
    guard count > 0 else { return nil }
    return FilePath(bytes: buffer[..<count].map { UInt8(bitPattern: $0) })
  }

  /// The path of the current directory, or nil if it has none, for example because it was removed.
  static var currentDirectory: FilePath? {
    var buffer = [CChar](repeating: 0, count: 4096)
    guard unsafe getcwd(&buffer, buffer.count) != nil else { return nil }
    return FilePath(bytes: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
  }

  /// Returns the names of the entries of `directory` in no particular order. Invalid UTF-8 in them is replaced.
  package static func names(in directory: FilePath) throws(Errno) -> [String] {
    try entries(of: directory).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the names of the entries of `directory` as bytes, in no particular order.
  package static func entries(of directory: FilePath) throws(Errno) -> [[UInt8]] {
    guard let stream = unsafe directory.withPlatformString({ unsafe opendir($0) }) else {
      throw Errno(rawValue: errno)
    }
    defer { unsafe _ = closedir(stream) }
    var names: [[UInt8]] = []
    errno = 0
    while let entry = unsafe readdir(stream) {
      // `d_name` holds a NUL-terminated name of at most 255 bytes.
      names.append(
        unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          unsafe Array(bytes.prefix { $0 != 0 })
        })
      errno = 0
    }
    if errno != 0 { throw Errno(rawValue: errno) }
    return names
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

extension FileDescriptor {
  /// Creates an unnamed file in `directory`. Some file systems do not support unnamed files.
  static func unnamed(in directory: FilePath) throws -> FileDescriptor {
    let number = unsafe directory.withPlatformString { unsafe zt_open_unnamed($0) }
    guard number >= 0 else { throw Errno(rawValue: errno) }
    return FileDescriptor(rawValue: number)
  }
}

extension FilePath {
  /// Creates a path that consists of exactly these bytes, whatever their encoding.
  package init(bytes: [UInt8]) {
    let characters: [CInterop.PlatformChar] = bytes.map { CInterop.PlatformChar(bitPattern: $0) }
    // The array ends in a NUL, and the initializer copies the array.
    self.init(platformString: characters + [0])
  }

  /// The bytes of the path.
  package var bytes: [UInt8] {
    unsafe withPlatformString { pointer in
      // The string has `length` bytes before its terminating NUL.
      unsafe Array(UnsafeBufferPointer(start: pointer, count: length)).map {
        UInt8(bitPattern: $0)
      }
    }
  }
}

extension FileDescriptor {
  /// The maximum number of descriptors that this process may have open.
  package static var maximumCount: Int {
    var found = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &found) == 0 else {
      return .max
    }
    return Int(clamping: found.rlim_cur)
  }

  /// Writes as many of `bytes` as one system call accepts, and returns their number.
  package func writeSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
    try unsafe bytes.withUnsafeBytes { unsafe try write($0, retryOnInterrupt: false) }
  }

  /// Writes all of `bytes`, despite short writes and interruptions.
  ///
  /// - Parameter isCancelled: Polled before each system call, and every 20 ms while a non-blocking stream is full. If
  ///   it returns true, the method throws `canceled`.
  package func writeAll(
    _ bytes: [UInt8], isCancelled: () -> Bool = { false }
  ) throws(Errno) {
    var rest = bytes[...]
    while !rest.isEmpty {
      if isCancelled() { throw .canceled }
      do {
        rest = rest.dropFirst(try writeSome(rest))
      } catch Errno.interrupted {
        continue
      } catch Errno.wouldBlock {
        var request = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&request, 1, 20)
      } catch {
        throw error as? Errno ?? .ioError
      }
    }
  }

  /// Writes all of `bytes` to a file at `offset`.
  package func writeAll(_ bytes: [UInt8], at offset: Int) throws(Errno) {
    var written = 0
    while written < bytes.count {
      let rest = unsafe bytes.span.bytes.extracting(written..<bytes.count)
      written += try writeSome(rest, at: offset + written)
    }
  }

  /// Writes as many of `bytes` as one system call accepts, starting at `offset` in the file. Returns the number of
  /// bytes written.
  package func writeSome(_ bytes: borrowing RawSpan, at offset: Int) throws(Errno) -> Int {
    while true {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.pwrite(rawValue, bytes.baseAddress, bytes.count, off_t(offset))
      }
      if count >= 0 { return count }
      if errno != EINTR { throw Errno(rawValue: errno) }
    }
  }

  /// Reads the next available bytes into `buffer`, at most as many as it holds, and returns their number.
  package func read(into buffer: inout [UInt8]) throws -> Int {
    try unsafe buffer.withUnsafeMutableBytes { unsafe try read(into: $0) }
  }

  /// Reads the file's bytes from `offset` on into `range` of `buffer`, and returns the number of bytes read.
  package func read(at offset: Int, into buffer: inout [UInt8], _ range: Range<Int>) throws -> Int {
    try unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe try read(
        fromAbsoluteOffset: Int64(offset),
        into: UnsafeMutableRawBufferPointer(rebasing: bytes[range]))
    }
  }

  /// Like ``read(at:into:_:)``, but reads fewer bytes than requested only at the end of the file.
  func readAll(at offset: Int, into buffer: inout [UInt8], _ range: Range<Int>) throws -> Int {
    var rest = range
    while !rest.isEmpty {
      let done = rest.lowerBound - range.lowerBound
      let count = try read(at: offset + done, into: &buffer, rest)
      if count == 0 { break }
      rest = rest.dropFirst(count)
    }
    return range.count - rest.count
  }

  /// Returns the first `count` bytes of a file, or all bytes if the file is shorter. Returns no bytes if reading fails.
  package func prefix(_ count: Int) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let found = (try? read(at: 0, into: &buffer, 0..<count)) ?? 0
    return Array(buffer.prefix(found))
  }

  /// The size of this terminal, or nil if the descriptor is not a terminal or the size is unknown.
  package var terminalSize: (columns: Int, rows: Int, pixelWidth: Int, pixelHeight: Int)? {
    var size = winsize()
    guard unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row), Int(size.ws_xpixel), Int(size.ws_ypixel))
  }
}

/// Waits until one of `requests` is ready or the timeout expires. A negative timeout never expires.
///
/// - Returns: The number of ready requests, or -1 with the reason in `errno`.
package func waitForEvents(_ requests: inout [pollfd], milliseconds: Int32) -> Int32 {
  unsafe poll(&requests, nfds_t(requests.count), milliseconds)
}

extension termios {
  /// Reads the line settings of an open terminal, or returns nil if `descriptor` is not a terminal.
  package init?(of descriptor: Int32) {
    self.init()
    guard unsafe tcgetattr(descriptor, &self) == 0 else { return nil }
  }

  /// Applies these settings to a terminal. Returns false if the system refuses.
  package func apply(to descriptor: Int32) -> Bool {
    var settings = self
    return unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0
  }
}

extension timespec {
  /// Returns the system's wall-clock time since 1970.
  static func now() -> timespec {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return time
  }

  /// Makes the thread sleep for this long, or until a signal arrives.
  package func sleep() {
    var time = self
    _ = unsafe nanosleep(&time, nil)
  }

  var nanoseconds: Int64 { Int64(tv_sec) &* 1_000_000_000 &+ Int64(tv_nsec) }
}

/// Returns the value of an environment variable, or nil if it is not set. Reading it is safe from any thread, because
/// this process never changes its environment.
package func environmentVariable(_ name: String) -> String? {
  guard let value = unsafe getenv(name) else { return nil }
  return unsafe String(cString: value)
}

/// Returns the bytes of the command-line arguments after the name of the program.
func commandLineArguments() -> [[UInt8]] {
  var arguments: [[UInt8]] = []
  for index in 1..<max(1, Int(CommandLine.argc)) {
    // The first `argc` entries are NUL-terminated strings that stay valid as long as the process runs.
    guard let pointer = unsafe CommandLine.unsafeArgv[index] else { continue }
    arguments.append(
      unsafe UnsafeBufferPointer(start: pointer, count: strlen(pointer)).map {
        UInt8(bitPattern: $0)
      })
  }
  return arguments
}

/// Functions that control what happens when a signal arrives.
package enum SignalAction {
  /// Installs `handler` for signal `number`. `flags` are the flags to pass to `sigaction`.
  package static func set(
    _ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void, flags: Int32
  ) {
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = handler
    action.sa_flags = flags
    unsafe sigaction(number, &action, nil)
  }

  /// Returns whether signal `number` is ignored. A shell ignores some signals in background commands, and callers must
  /// leave such signals ignored.
  package static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    // SIG_IGN is a function pointer of value 1, which cannot be compared as a Swift function.
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// Unblocks signals that the parent process had blocked.
  ///
  /// A process inherits the signal mask of the thread that starts it. Pool threads, such as those of libdispatch, block
  /// signals, so a tool started from such a thread would never receive a signal that asks it to end.
  package static func unblock(_ signals: [Int32]) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in signals { unsafe sigaddset(&set, number) }
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }
}

/// Allocator settings for the memory of frames.
package enum FrameMemory {
  /// Makes the allocator return blocks of 256 KiB or more, such as frames, to the system as soon as they are freed.
  ///
  /// By default, the allocator raises its threshold for doing so when the first large block is freed, and from then on
  /// keeps such blocks in every thread's arena. Playing an animation of 640 × 480 pixels then takes 63 MiB instead of
  /// 43 MiB.
  package static func returnsAtOnce() {
    zt_return_freed_blocks(256 << 10)
  }
}
