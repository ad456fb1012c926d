import Zoetrope

/// The damage that was found while decoding frames, without the damage that ``AnimatedImage/damage`` already lists.
///
/// A truncated last frame is listed as `cutFrame` when the file is opened. The frame's decoder stops at the same
/// position and reports the damage under another name, such as `gif.lzw.truncated`.
struct DecodingDamage {
  /// The damage, in the order in which it was found.
  private(set) var items: [Damage] = []
  private var known: Set<Place>
  private let cuts: Set<Place>

  init(of image: AnimatedImage) {
    known = Set(image.damage.lazy.map { Place($0) })
    cuts = Set(image.damage.lazy.filter { $0.kind == .cutFrame }.map { Place(end: $0) })
  }

  /// Records the damage of a frame. Returns false if the damage is already known.
  @discardableResult
  mutating func add(_ item: Damage) -> Bool {
    if !item.kind.isTolerated, cuts.contains(Place(end: item)) { return false }
    guard known.insert(Place(item)).inserted else { return false }
    items.append(item)
    return true
  }

  /// The properties that distinguish one item of damage from another.
  ///
  /// A file may have a hundred thousand items, and the keys of all of them are kept in memory, so each key is as small
  /// as possible.
  private struct Place: Hashable {
    let kind: String
    let frameIndex: Int32
    let byteOffset: Int

    init(_ damage: Damage) {
      kind = damage.kind.name
      frameIndex = Int32(clamping: damage.frameIndex ?? -1)
      byteOffset = damage.byteOffset
    }

    /// Creates a place with only the position of `damage`, whatever kind of damage was found there.
    init(end damage: Damage) {
      kind = ""
      frameIndex = Int32(clamping: damage.frameIndex ?? -1)
      byteOffset = damage.byteOffset
    }
  }
}
