internal import Glibc
internal import SystemPackage

/// The three descriptors that every program has a name for.
package enum StandardStreams {
  /// Opens those that the parent closed, so that no file gets their numbers.
  ///
  /// A file being written as descriptor 2 would also take the progress and every error. Each is opened the
  /// wrong way round: what uses it fails, as it would with a closed one.
  package static func reserve() {
    let modes: [FileDescriptor.AccessMode] = [.writeOnly, .readOnly, .readOnly]
    for (number, mode) in modes.enumerated() where fcntl(Int32(number), F_GETFD) == -1 {
      // The system gives the lowest number, and those below are open.
      _ = try? FileDescriptor.open("/dev/null", mode)
    }
  }
}
