import Zoetrope

/// Tracks which frames show damage: their own, or that of an earlier frame below them.
///
/// Every frame from the damaged one on counts as affected, up to the next frame that can be drawn without earlier ones.
struct DamageTrail {
  private let frames: [FrameControl]
  /// Where frames are missing, because the structure of the file is damaged.
  private let gaps: Set<Int>
  /// The frame whose damage is noted next.
  private(set) var next = 0
  /// Whether damage shows in the frame before ``next``.
  private(set) var isTouched = false

  init(of image: AnimatedImage) {
    frames = image.frames
    gaps = Set(image.damage.filter { !$0.kind.isTolerated }.compactMap(\.frameIndex))
  }

  /// Notes the damage of frame ``next``.
  mutating func note(_ damage: Damage?) {
    let isDamaged = damage.map { !$0.kind.isTolerated } ?? false
    let isIndependent = frames.indices.contains(next) && frames[next].isIndependent
    isTouched = isDamaged || gaps.contains(next) || isTouched && !isIndependent
    next += 1
  }
}
