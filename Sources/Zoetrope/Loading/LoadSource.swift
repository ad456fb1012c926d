package import SystemPackage

/// Where the bytes of a load come from.
package enum LoadSource: Sendable {
  /// A closure that fetches them.
  case data(FrameLoader.Fetch)
  /// A file.
  case file(FilePath)

  /// Fetches, opens and hashes the image, charged to `budget`. Hashing and scanning run on
  /// ``DecodeThreads/loading``. A file that the store behind `cache` knows is not scanned.
  package func open(
    options: DecodingOptions, budget: MemoryBudget, cache: (any FrameCaching)? = nil,
    progress: @escaping @Sendable (Double) -> Void
  ) async throws(AnimatedImageError) -> AnimatedImage {
    switch self {
    case .data(let fetch):
      let bytes: [UInt8]
      do { bytes = try await fetch(progress) } catch { throw Self.failure(error) }
      return try await Self.onThread(.loading) { (flag) throws(AnimatedImageError) in
        let image = try AnimatedImage(bytes: bytes, options: options).charged(to: budget)
        _ = try image.contentIdentity { flag.isRaised }
        return image
      }
    case .file(let path):
      return try await Self.onThread(.loading) { (flag) throws(AnimatedImageError) in
        let image: AnimatedImage
        if let store = cache?.backing {
          image = try store.open(path, options: options).charged(to: budget)
        } else {
          image = try AnimatedImage(contentsOf: path, options: options).charged(to: budget)
        }
        // Hash the opened file: the path may name another one by now.
        _ = try image.contentIdentity { flag.isRaised }
        return image
      }
    }
  }

  /// Whether the source still has this identity. A file is checked with `stat`, and read if that has
  /// changed; fetched data does not change.
  package func isCurrent(_ identity: ContentIdentity) async -> Bool {
    guard case .file(let path) = self else { return true }
    let current = try? await Self.onThread(.checking) { (flag) throws(AnimatedImageError) in
      try ContentIdentity(contentsOf: path) { flag.isRaised }
    }
    return current == identity
  }

  private static func onThread<Value: Sendable>(
    _ threads: DecodeThreads,
    _ work: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    if Task.isCancelled { throw AnimatedImageError(.cancelled, "before opening") }
    return try await threads.cancellableResult { flag in
      Result { () throws(AnimatedImageError) in try work(flag) }
    }.get()
  }

  private static func failure(_ error: any Error) -> AnimatedImageError {
    if let error = error as? AnimatedImageError { return error }
    if error is CancellationError { return AnimatedImageError(.cancelled, "while fetching") }
    return AnimatedImageError(.io, "\(error)")
  }
}

/// The caller's name for an image, of any hashable type. Equal if type and value are.
package struct LoadIdentifier: Sendable, Hashable {
  private let value: any Hashable & Sendable

  package init(_ value: some Hashable & Sendable) { self.value = value }

  package static func == (left: LoadIdentifier, right: LoadIdentifier) -> Bool {
    AnyHashable(left.value) == AnyHashable(right.value)
  }

  package func hash(into hasher: inout Hasher) { AnyHashable(value).hash(into: &hasher) }
}
