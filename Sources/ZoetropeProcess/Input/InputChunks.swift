internal import SystemPackage
import Zoetrope

/// The bytes of an input as they arrive. Its descriptor is closed after the last one.
struct InputChunks: AsyncSequence, Sendable {
  typealias Element = [UInt8]
  typealias Failure = AnimatedImageError

  /// How often to check whether a file has grown.
  private static let interval = Duration.milliseconds(25)

  private let file: OwnedFile
  private let isFollowed: Bool
  private let patience: Duration?

  init(
    _ input: InputFile, isFollowed: Bool, _ patience: Duration?
  ) throws(AnimatedImageError) {
    file = try OwnedFile(input.path)
    // Standard input may also be a file; when followed, its end is not final.
    self.isFollowed = isFollowed && file.isRegular
    self.patience = patience
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(
      chunks: FileChunks(file.descriptor).makeAsyncIterator(), isFollowed: isFollowed,
      patience: patience)
  }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate var chunks: FileChunks.Iterator
    fileprivate let isFollowed: Bool
    fileprivate let patience: Duration?

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AnimatedImageError) -> [UInt8]? {
      let end = patience.map { ContinuousClock.now + $0 }
      while true {
        if let chunk = try await chunks.next(isolation: actor) { return chunk }
        guard isFollowed, end.map({ $0 > .now }) ?? true else { return nil }
        do { try await Task.sleep(for: InputChunks.interval) } catch { return nil }
      }
    }
  }
}

/// An open file, closed by its last user. Standard input is borrowed.
private final class OwnedFile: Sendable {
  let descriptor: FileDescriptor
  private let isBorrowed: Bool

  init(_ path: FilePath?) throws(AnimatedImageError) {
    guard let path else {
      (descriptor, isBorrowed) = (.standardInput, true)
      return
    }
    do {
      // Opened without waiting for a writer; `poll` waits instead, and can be interrupted.
      descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    } catch {
      throw AnimatedImageError(.io, "\(error)", systemError: error as? Errno)
    }
    isBorrowed = false
  }

  deinit { if !isBorrowed { try? descriptor.close() } }

  var isRegular: Bool { (try? FileStatus(of: descriptor))?.isRegular ?? false }
}
