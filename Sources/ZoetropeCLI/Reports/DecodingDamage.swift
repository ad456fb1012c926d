import Zoetrope

/// Damage found while decoding, excluding what ``AnimatedImage/damage`` already lists.
///
/// A truncated last frame is known as `cutFrame` when the file is opened. Its decoder reaches the same position
/// and reports it under another name, such as `gif.lzw.truncated`.
struct DecodingDamage {
  /// In the order found.
  private(set) var items: [Damage] = []
  private var known: Set<Place>
  private let cuts: Set<Place>

  init(of image: AnimatedImage) {
    known = Set(image.damage.lazy.map { Place($0) })
    cuts = Set(image.damage.lazy.filter { $0.kind == .cutFrame }.map { Place(end: $0) })
  }

  /// Records the damage of a frame; returns false if it is already known.
  @discardableResult
  mutating func add(_ item: Damage) -> Bool {
    if !item.kind.isTolerated, cuts.contains(Place(end: item)) { return false }
    guard known.insert(Place(item)).inserted else { return false }
    items.append(item)
    return true
  }

  /// The properties that distinguish one item from another.
  ///
  /// A file may have a hundred thousand items, all of which are kept in memory, so the key is as small as
  /// possible.
  private struct Place: Hashable {
    let kind: String
    let frameIndex: Int32
    let byteOffset: Int

    init(_ damage: Damage) {
      kind = damage.kind.name
      frameIndex = Int32(clamping: damage.frameIndex ?? -1)
      byteOffset = damage.byteOffset
    }

    /// Only the position, whatever was found there.
    init(end damage: Damage) {
      kind = ""
      frameIndex = Int32(clamping: damage.frameIndex ?? -1)
      byteOffset = damage.byteOffset
    }
  }
}
