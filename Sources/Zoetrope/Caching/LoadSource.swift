package import SystemPackage

/// Where the bytes of a load come from.
package enum LoadSource: Sendable {
  /// A closure that fetches them; it is given a function to tell its progress with, from 0 to 1.
  case data(@Sendable (_ progress: @escaping @Sendable (Double) -> Void) async throws -> [UInt8])
  /// A file.
  case file(FilePath)

  /// Fetches and opens the image. Hashing and scanning are done on decode threads.
  package func open(
    options: DecodingOptions, budget: MemoryBudget,
    progress: @escaping @Sendable (Double) -> Void
  ) async throws(AnimatedImageError) -> OpenedImage {
    switch self {
    case .data(let fetch):
      let bytes: [UInt8]
      do { bytes = try await fetch(progress) } catch { throw Self.failure(error) }
      return try await Self.onDecodeThread { (_) throws(AnimatedImageError) in
        let image = try AnimatedImage(bytes: bytes, options: options)
        return OpenedImage(
          image, identity: ContentIdentity(of: bytes), cost: bytes.count, budget: budget)
      }
    case .file(let path):
      return try await Self.onDecodeThread { (flag) throws(AnimatedImageError) in
        let image = try AnimatedImage(contentsOf: path, options: options)
        // Of the file that was opened: by now, another one may lie at the path.
        let identity = try image.contentIdentity { flag.isRaised }
        return OpenedImage(image, identity: identity, cost: 0, budget: budget)
      }
    }
  }

  /// Whether bytes of this identity are still what is there: a file is looked at, and read if it was
  /// touched; fetched data does not change.
  package func isCurrent(_ identity: ContentIdentity) async -> Bool {
    guard case .file(let path) = self else { return true }
    let current = try? await Self.onDecodeThread { (flag) throws(AnimatedImageError) in
      try ContentIdentity(contentsOf: path) { flag.isRaised }
    }
    return current == identity
  }

  private static func onDecodeThread<Value: Sendable>(
    _ work: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    if Task.isCancelled { throw AnimatedImageError(.cancelled, "before opening") }
    return try await DecodeThreads.shared.cancellableResult { flag in
      Result { () throws(AnimatedImageError) in try work(flag) }
    }.get()
  }

  private static func failure(_ error: any Error) -> AnimatedImageError {
    if let error = error as? AnimatedImageError { return error }
    if error is CancellationError { return AnimatedImageError(.cancelled, "while fetching") }
    return AnimatedImageError(.io, "\(error)")
  }
}
