package import SystemPackage

/// Where the bytes of a load come from.
package enum LoadSource: Sendable {
  /// A closure that fetches them.
  case data(FrameLoader.Fetch)
  /// A file.
  case file(FilePath)

  /// Fetches and opens the image, charged to `budget`, its identity known. Hashing and scanning are
  /// done on ``DecodeThreads/loading``.
  package func open(
    options: DecodingOptions, budget: MemoryBudget,
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
        let image = try AnimatedImage(contentsOf: path, options: options).charged(to: budget)
        // Of the file that was opened: by now, another one may lie at the path.
        _ = try image.contentIdentity { flag.isRaised }
        return image
      }
    }
  }

  /// Whether bytes of this identity are still what is there: a file is looked at, and read if it was
  /// touched; fetched data does not change.
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

/// What the caller calls a picture, of whatever type: equal when type and value are.
package struct LoadIdentifier: Sendable, Hashable {
  private let value: any Hashable & Sendable

  package init(_ value: some Hashable & Sendable) { self.value = value }

  package static func == (left: LoadIdentifier, right: LoadIdentifier) -> Bool {
    AnyHashable(left.value) == AnyHashable(right.value)
  }

  package func hash(into hasher: inout Hasher) { AnyHashable(value).hash(into: &hasher) }
}
