import Observation
import Zoetrope

/// The state of a view that shows an animation: a view that reads `picture` is redrawn with each frame.
@MainActor
@Observable
final class StickerModel {
  private(set) var failure: String?
  private var animator: ImageAnimator?

  /// The current frame; nil until the first one is decoded.
  var picture: Bitmap? { animator?.bitmap }
  var frameIndex: Int? { animator?.frame?.index }
  var isEnded: Bool { failure != nil || animator?.state.isEnded == true }

  /// Opens and plays a file, scaled for the view. Decoding never runs on the main actor.
  func show(_ path: FilePath, width: Int, options: PlaybackOptions = .init()) async {
    do {
      let image = try await AnimatedImage.open(path)
      let animator = ImageAnimator(
        image, rendering: Rendering(target: TargetSize(width: width)), options: options)
      animator.start()
      self.animator = animator
    } catch {
      failure = error.description
    }
  }

  /// Stops when the view disappears; the last picture stays.
  func hide() { animator?.stop() }
}

/// Prints each picture that a view would draw:
///
///     examples view-model party.gif
enum ViewModel {
  @MainActor
  static func run(_ arguments: [String]) async throws {
    guard let path = arguments.first else { throw Usage("view-model FILE") }
    let model = StickerModel()
    await model.show(FilePath(path), width: 64, options: PlaybackOptions(playCount: .once))
    let views = Observations { (model.frameIndex, model.picture?.size, model.isEnded) }
    for await (index, size, isEnded) in views {
      if let index, let size { print("frame \(index), \(size)") }
      if isEnded { break }
    }
    print(model.failure ?? "ended")
  }
}
