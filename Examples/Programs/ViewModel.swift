import Observation
import Zoetrope

/// The state of a view that shows an animation: a view that reads `picture` is redrawn with each frame.
@MainActor
@Observable
final class StickerModel {
  private var openingFailure: String?
  private var animator: ImageAnimator?
  private var lastCall = 0  // what an earlier call opened is not shown any more

  /// The current frame; nil until the first one is decoded.
  var picture: Bitmap? { animator?.bitmap }
  var frameIndex: Int? { animator?.frame?.index }
  var failure: String? { openingFailure ?? animator?.state.error?.description }
  var isEnded: Bool { openingFailure != nil || animator?.state.isEnded == true }

  /// Opens and plays a file, scaled for the view. Decoding never runs on the main actor.
  func show(_ path: FilePath, width: Int, options: PlaybackOptions = .init()) async {
    lastCall += 1
    let call = lastCall
    openingFailure = nil
    do {
      let image = try await AnimatedImage.open(path)
      // Meanwhile, the view may have disappeared, or may show another file.
      guard call == lastCall else { return }
      let animator = ImageAnimator(
        image, rendering: Rendering(target: TargetSize(width: width)), options: options)
      animator.start()
      self.animator = animator
    } catch {
      if call == lastCall { openingFailure = error.description }
    }
  }

  /// Stops when the view disappears; the last picture stays.
  func hide() {
    lastCall += 1
    animator?.stop()
  }
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
