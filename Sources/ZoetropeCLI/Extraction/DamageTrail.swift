import Zoetrope

/// Tracks which frames show damage: either their own, or damage in an earlier frame that may still be visible below
/// them.
///
/// Damage in a frame counts as visible until a later frame can be drawn without earlier frames.
struct DamageTrail {
  private let frames: [FrameControl]
  /// The indices of the frames at which data was lost to damage in the file's structure. Frames may be missing there.
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
