import Zoetrope

/// Damage that decoding the frames of an image finds, without what the image's own damage tells.
///
/// A frame in which the file ends is known when the file is opened, as `cutFrame`; its decoder comes to the
/// same place and calls it by its own name, as `gif.lzw.truncated`.
struct DecodingDamage {
  /// In the order found.
  private(set) var items: [Damage] = []
  private var known: Set<Place>
  private let cuts: Set<Place>

  init(of image: AnimatedImage) {
    known = Set(image.damage.lazy.map { Place($0) })
    cuts = Set(image.damage.lazy.filter { $0.kind == .cutFrame }.map { Place(end: $0) })
  }

  /// Notes what was found in a frame; returns false if it is known.
  @discardableResult
  mutating func add(_ item: Damage) -> Bool {
    if !item.kind.isTolerated, cuts.contains(Place(end: item)) { return false }
    guard known.insert(Place(item)).inserted else { return false }
    items.append(item)
    return true
  }

  /// What distinguishes one item from another.
  ///
  /// A file may have a hundred thousand items: they are hashed by as little as distinguishes them, since all
  /// are kept in memory.
  private struct Place: Hashable {
    let kind: String
    let frameIndex: Int32
    let byteOffset: Int

    init(_ damage: Damage) {
      kind = damage.kind.name
      frameIndex = Int32(clamping: damage.frameIndex ?? -1)
      byteOffset = damage.byteOffset
    }

    /// The place alone, whatever was found there.
    init(end damage: Damage) {
      kind = ""
      frameIndex = Int32(clamping: damage.frameIndex ?? -1)
      byteOffset = damage.byteOffset
    }
  }
}
