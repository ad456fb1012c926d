/// A value that renders the decoded frames of one image in several formats, and stores the results.
struct FrameFiller: FrameFilling {
  private let store: FrameStore
  private let content: ContentIdentity
  private var renderers: [FrameRenderer]

  init(
    _ store: FrameStore, _ renderings: [Rendering], of image: any ImageOrigin,
    _ content: ContentIdentity
  ) {
    self.store = store
    self.content = content
    renderers = renderings.map {
      FrameRenderer($0, of: image.canvasSize, options: image.options)
    }
  }

  private func key(_ renderer: FrameRenderer, _ index: Int) -> FrameKey {
    AnimationKey(content: content, rendition: renderer.rendition)[index]
  }

  /// Returns whether the store contains frame `index` in every format.
  func isComplete(at index: Int) -> Bool {
    renderers.allSatisfy { store.contains(key($0, index)) }
  }

  /// Stores `frame` in every format in which the store lacks the frame, and returns the number of these formats.
  ///
  /// - Throws: The first error that occurred, after every format has been tried. `cancelled` is thrown immediately.
  mutating func fill(
    _ frame: CompositedFrame, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Int {
    var count = 0
    var failure: AnimatedImageError?
    for place in renderers.indices {
      let key = key(renderers[place], frame.index)
      if store.contains(key) { continue }
      do throws(AnimatedImageError) {
        let rendered = try renderers[place].render(frame, isCancelled: isCancelled)
        try store.store(CachedFrame(rendered.bitmap, damage: rendered.damage), for: key)
        count += 1
      } catch {
        if error.code == .cancelled { throw error }
        // If storing the frame in one format fails, for example because there is no room, still fill the other formats.
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return count
  }

  /// Like ``fill(_:isCancelled:)``, but does not throw: the store records an error as its last error, unless the error
  /// is `cancelled`.
  mutating func fillIfPossible(_ frame: CompositedFrame, isCancelled: () -> Bool) {
    do throws(AnimatedImageError) {
      _ = try fill(frame, isCancelled: isCancelled)
    } catch {
      if error.code != .cancelled { store.note(error) }
    }
  }
}

extension FrameStore: FormatKeeping {
  package func filler(
    ofFamily rendering: Rendering, of image: any ImageOrigin, _ content: ContentIdentity
  ) -> (any FrameFilling)? {
    guard rendering.table != nil,
      let family = formats.first(where: { $0.rendering == rendering })?.family
    else { return nil }
    let others = formats.filter { $0.family == family && $0.rendering != rendering }
    if others.isEmpty { return nil }
    return FrameFiller(self, others.map(\.rendering), of: image, content)
  }
}
