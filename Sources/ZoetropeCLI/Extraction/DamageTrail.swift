import Zoetrope

/// Tracks which frames show damage: their own damage, or that of an earlier frame that is visible below them.
///
/// Damage counts as visible from the damaged frame up to the next frame that can be drawn without earlier frames.
struct DamageTrail {
  private let frames: [FrameControl]
  /// The indices of the frames at which the structure of the file lost data, so that frames may be missing.
  private let gaps: Set<Int>
  /// The index of the frame whose damage is to be recorded next.
  private(set) var next = 0
  /// Whether damage is visible in the frame before ``next``.
  private(set) var isTouched = false

  init(of image: AnimatedImage) {
    frames = image.frames
    gaps = Set(image.damage.filter { !$0.kind.isTolerated }.compactMap(\.frameIndex))
  }

  /// Records the damage of frame ``next``, and advances to the frame after it.
  mutating func note(_ damage: Damage?) {
    let isDamaged = damage.map { !$0.kind.isTolerated } ?? false
    let isIndependent = frames.indices.contains(next) && frames[next].isIndependent
    isTouched = isDamaged || gaps.contains(next) || isTouched && !isIndependent
    next += 1
  }
}
