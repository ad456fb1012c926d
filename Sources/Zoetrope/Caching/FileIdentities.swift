internal import Synchronization

/// The identities of files that were hashed before, by their stamps: the quick way to an identity.
///
/// Holds at most ``capacity`` pairs; when full it is emptied, because a refill costs one hash each
/// (tens of GB/s) and any finer order would cost more code than it saves.
package final class FileIdentities: Sendable {
  /// The map of this process.
  package static let shared = FileIdentities()

  private let known = Mutex<[FileStamp: ContentIdentity]>([:])
  package let capacity: Int

  package init(capacity: Int = 4096) { self.capacity = capacity }

  /// The identity of the file with this stamp, when it was hashed before.
  package subscript(stamp: FileStamp) -> ContentIdentity? {
    known.withLock { $0[stamp] }
  }

  /// Remembers an identity, unless the file is so fresh that its stamp proves nothing.
  package func remember(_ identity: ContentIdentity, for stamp: FileStamp, now: Int64) {
    guard stamp.isSettled(at: now) else { return }
    known.withLock { known in
      if known.count >= capacity { known.removeAll(keepingCapacity: true) }
      known[stamp] = identity
    }
  }

  /// Pairs held.
  package var count: Int { known.withLock { $0.count } }
}
