package import SystemPackage

/// The source of a load's bytes.
package enum LoadSource: Sendable {
  /// A closure that fetches the bytes.
  case data(FrameLoader.Fetch)
  /// A closure that starts to receive the bytes.
  case stream(StreamOpening)
  /// A file.
  case file(FilePath)

  /// A closure that starts to receive an image, and returns when the image's canvas is known.
  package typealias StreamOpening = @Sendable (DecodingOptions) async throws -> StreamedImage

  /// Fetches, opens and hashes the image, whose memory is charged to `budget`. Hashing and scanning run on
  /// ``DecodeThreads/loading``. A file is not scanned if the store behind `cache` already knows it. Waiting for a file
  /// ends when the image is no longer needed.
  ///
  /// - Returns: The image, and whether it is complete: false for a stream that was truncated or stopped.
  package func open(
    options: DecodingOptions, budget: MemoryBudget, cache: (any FrameCaching)? = nil,
    progress: @escaping @Sendable (Double) -> Void
  ) async throws(AnimatedImageError) -> (AnimatedImage, isComplete: Bool) {
    switch self {
    case .data(let fetch):
      let bytes: [UInt8]
      do { bytes = try await fetch(progress) } catch { throw Self.failure(error) }
      let image = try await Self.onThread(.loading) { (flag) throws(AnimatedImageError) in
        let isCancelled = { flag.isRaised }
        let image = try AnimatedImage(
          source: MemorySource(bytes), options: options, isCancelled: isCancelled
        ).charged(to: budget)
        _ = try image.contentIdentity(isCancelled: isCancelled)
        return image
      }
      return (image, true)
    case .stream(let opening):
      let stream = try await Self.opened(opening, options)
      guard let ending = await stream.waitUntilEnded() else {
        throw AnimatedImageError(.cancelled, "stopped while waiting for bytes")
      }
      if let error = ending.error { throw error }
      guard let image = stream.image else {
        throw AnimatedImageError(.noFrames, "the stream ended before the first frame")
      }
      return (try await Self.identified(image, budget), ending == .complete)
    case .file(let path):
      let image = try await AnimatedImage.opened(reading: path) {
        (flag) throws(AnimatedImageError) in
        let isCancelled = { flag.isRaised }
        let opened =
          if let store = cache?.diskStore {
            try store.open(path, options: options, isCancelled: isCancelled)
          } else {
            try AnimatedImage(contentsOf: path, options: options, isCancelled: isCancelled)
          }
        let image = opened.charged(to: budget)
        // Hash the opened file, because the path may refer to a different file by now.
        _ = try image.contentIdentity(isCancelled: isCancelled)
        return image
      }
      return (image, true)
    }
  }

  /// Returns the stream that `opening` starts to receive.
  static func opened(
    _ opening: StreamOpening, _ options: DecodingOptions
  ) async throws(AnimatedImageError) -> StreamedImage {
    do { return try await opening(options) } catch { throw failure(error) }
  }

  /// Charges `image` to `budget`, computes the identity of the image, and returns the charged image.
  static func identified(
    _ image: AnimatedImage, _ budget: MemoryBudget
  ) async throws(AnimatedImageError) -> AnimatedImage {
    try await onThread(.loading) { (flag) throws(AnimatedImageError) in
      let image = image.charged(to: budget)
      _ = try image.contentIdentity { flag.isRaised }
      return image
    }
  }

  /// Returns the size of the file in bytes, or 0 if there is no file.
  func fileByteCount() async -> Int {
    guard case .file(let path) = self else { return 0 }
    return await DecodeThreads.checking.result { FileStamp(at: path)?.byteCount ?? 0 }
  }

  /// Returns whether the source still has the content with this identity. A file is checked with `stat`, and read again
  /// if its stamp has changed. Fetched data never changes.
  package func isCurrent(_ identity: ContentIdentity) async -> Bool {
    guard case .file(let path) = self else { return true }
    let current = try? await Self.onThread(.checking) {
      (flag) throws(AnimatedImageError) -> ContentIdentity? in
      // A pipe must not be opened for this, because its writer would take that for its reader.
      guard FileStatus(at: path)?.isRegular ?? false else { return nil }
      return try ContentIdentity(contentsOf: path) { flag.isRaised }
    }
    return current == identity
  }

  private static func onThread<Value: Sendable>(
    _ threads: DecodeThreads,
    _ work: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    let result = await threads.cancellableResult { flag in
      Result { () throws(AnimatedImageError) in try work(flag) }
    }
    guard let result else {
      throw AnimatedImageError(.cancelled, "stopped before opening the image")
    }
    return try result.get()
  }

  private static func failure(_ error: any Error) -> AnimatedImageError {
    if let error = error as? AnimatedImageError, error.code != .cancelled { return error }
    // If nobody cancelled this load, the error comes from work that the caller shares with others.
    if Task.isCancelled { return AnimatedImageError(.cancelled, "stopped while fetching bytes") }
    return AnimatedImageError(thrown: error)
  }
}

/// The caller's name for an image, of any hashable type. Two names are equal if they are equal as `AnyHashable`, that
/// is, if they have the same type and equal values, or are equal numbers, whatever their types are.
package struct LoadIdentifier: Sendable, Hashable {
  private let value: any Hashable & Sendable

  package init(_ value: some Hashable & Sendable) { self.value = value }

  package static func == (left: LoadIdentifier, right: LoadIdentifier) -> Bool {
    AnyHashable(left.value) == AnyHashable(right.value)
  }

  package func hash(into hasher: inout Hasher) { AnyHashable(value).hash(into: &hasher) }
}
