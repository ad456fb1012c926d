internal import Glibc
internal import SystemPackage

/// The three standard descriptors.
package enum StandardStreams {
  /// Opens the descriptors that the parent closed, so that no other file gets their numbers.
  ///
  /// For example, a file opened as descriptor 2 would receive progress and errors. Each descriptor is opened for the
  /// wrong direction, so that using it fails as if it were closed.
  package static func reserve() {
    let modes: [FileDescriptor.AccessMode] = [.writeOnly, .readOnly, .readOnly]
    for (number, mode) in modes.enumerated() where fcntl(Int32(number), F_GETFD) == -1 {
      // This gets `number`, the lowest free one: all lower descriptors are open.
      _ = try? FileDescriptor.open("/dev/null", mode)
    }
  }
}
