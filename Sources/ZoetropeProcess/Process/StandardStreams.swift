internal import Glibc
internal import SystemPackage

/// The three standard descriptors.
package enum StandardStreams {
  /// Opens those that the parent closed, so that no other file gets their numbers.
  ///
  /// A file that is opened as descriptor 2 would receive progress and errors. Each descriptor is opened in the
  /// wrong direction, so that using it fails as if it were closed.
  package static func reserve() {
    let modes: [FileDescriptor.AccessMode] = [.writeOnly, .readOnly, .readOnly]
    for (number, mode) in modes.enumerated() where fcntl(Int32(number), F_GETFD) == -1 {
      // The system gives the lowest free number, and all lower ones are open.
      _ = try? FileDescriptor.open("/dev/null", mode)
    }
  }
}
