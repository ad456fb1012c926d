internal import Glibc
internal import SystemPackage

/// The three standard descriptors of the process.
package enum StandardStreams {
  /// Opens those standard descriptors that the parent process closed, so that no other file gets their numbers.
  ///
  /// Otherwise, for example, a file that was opened as descriptor 2 would receive progress and errors. Each descriptor
  /// is opened for the wrong direction, so that using it fails as if it were closed.
  package static func reserve() {
    let modes: [FileDescriptor.AccessMode] = [.writeOnly, .readOnly, .readOnly]
    for (number, mode) in modes.enumerated() where fcntl(Int32(number), F_GETFD) == -1 {
      // The new descriptor is `number`, the lowest free one, because all lower descriptors are open.
      _ = try? FileDescriptor.open("/dev/null", mode)
    }
  }
}
