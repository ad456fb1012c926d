/// The colours of all pictures of an animation, collected in a first pass, so that the animation can be written in the
/// smallest lossless pixel format.
///
/// Without a survey, a ``PixelFormat/rgba8`` animation is written as 8-bit RGBA. A survey takes 2 MiB of memory (4 or 6
/// MiB if colours may have to be reduced), and 1 to 5 ns for each changed pixel. Once ``isSettled`` is true, further
/// pictures cannot change the pixel format.
public struct ColorSurvey: Sendable {
  /// Whether the colours of fully transparent pixels count. If false, these pixels count as transparent black.
  public let keepsHiddenColors: Bool
  /// The colours as words of 8-bit RGBA, in the order of their first appearance, or nil if there are more than 256
  /// colours or if a colour needs 16 bits.
  private(set) var colors: [UInt32]? = []
  /// Whether every pixel is grey.
  private(set) var isGrey = true
  /// Whether every pixel is opaque.
  package private(set) var isOpaque = true
  /// Whether every pixel is either opaque or transparent black.
  private(set) var isOpaqueOrClear = true
  /// Whether every sample fits in 8 bits.
  private(set) var fits8Bits = true
  /// A bit for each 24-bit colour, which is set if an opaque pixel has that colour. Of 16-bit samples, only the high
  /// bytes count. The array is empty until the first picture is added.
  private var used: [UInt64] = []
  /// A hash table: `1 << 32 | color`, or 0 for a free slot.
  private var slots: [UInt64]
  /// How colours are reduced if the format cannot store all of them, or nil if they are never reduced.
  private let reduction: ColorReduction?
  /// The frequencies of all colours, or nil if no palette has to be found for them, or if there are no pictures yet.
  package private(set) var histogram: ColorHistogram?

  /// Whether an unused colour may be needed to mark transparent pixels. It is never needed for a GIF.
  private var findsUnused: Bool { reduction?.keepsAlpha ?? true }

  private static let slotBits: UInt32 = 11

  /// Creates an empty survey.
  ///
  /// - Parameter keepsHiddenColors: Whether the colours of fully transparent pixels count, as in the writer's option of
  ///   the same name. Default: false.
  public init(keepsHiddenColors: Bool = false) {
    self.init(keepsHiddenColors: keepsHiddenColors, reduction: nil)
  }

  /// Creates a survey for a file whose colours are reduced.
  package init(keepsHiddenColors: Bool = false, reduction: ColorReduction?) {
    self.keepsHiddenColors = keepsHiddenColors
    self.reduction = reduction?.colors == .exact ? nil : reduction
    slots = [UInt64](repeating: 0, count: 1 << Int(Self.slotBits))
  }

  /// Whether no further picture can change the pixel format, because the format is already RGBA of the maximum depth.
  public var isSettled: Bool {
    histogram == nil && colors == nil && !isGrey && !isOpaqueOrClear && (!isDeep || !fits8Bits)
  }

  /// Whether any picture had 16 bits per sample.
  private(set) var isDeep = false

  /// Adds the pixels of `bitmap`.
  ///
  /// - Parameter changed: The area with new pixels. Pixels outside this area were added with the previous picture.
  ///   Default: nil, which means that all pixels are new.
  /// - Throws: `parameter` if the bitmap has premultiplied alpha; `outOfMemory` if allocation fails.
  public mutating func add(
    _ bitmap: Bitmap, changed: PixelRect? = nil
  ) throws(AnimatedImageError) {
    try add(bitmap, changed: changed, isCancelled: { false })
  }

  /// Does the same as ``add(_:changed:)``, but throws `cancelled` once `isCancelled` returns true.
  package mutating func add(
    _ bitmap: Bitmap, changed: PixelRect?, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    if isSettled { return }
    try allocate()
    let all = PixelRect(bitmap.size)
    let area = changed.map { $0.intersection(all) } ?? all
    if let reduction {
      var partialCount = 0
      let bitmap = try bitmap.flattened(
        reduction.transparency, in: area, partialCount: &partialCount, isCancelled: isCancelled)
      for y in area.y..<area.maxY {
        try area.poll(row: y, isCancelled)
        add(bitmap, row: y, area.x..<area.maxX)
      }
    } else if bitmap.format == .rgba16 {
      isDeep = true
      for y in area.y..<area.maxY {
        try area.poll(row: y, isCancelled)
        addDeep(bitmap, row: y, area.x..<area.maxX)
      }
    } else {
      let bitmap = try bitmap.straightRGBA(isCancelled: isCancelled)
      for y in area.y..<area.maxY {
        try area.poll(row: y, isCancelled)
        add(bitmap, row: y, area.x..<area.maxX)
      }
    }
  }

  /// Allocates the large tables, unless the survey has them.
  private mutating func allocate() throws(AnimatedImageError) {
    let count = 1 << 18
    if used.isEmpty {
      try PixelMemory.allocating(8 * count) { used = [UInt64](repeating: 0, count: count) }
    }
    if reduction != nil, histogram == nil { histogram = try ColorHistogram() }
  }

  private mutating func add(_ bitmap: Bitmap, row y: Int, _ columns: Range<Int>) {
    let row = bitmap.row(y)
    histogram?.add(row, columns)
    var before: UInt32?
    for x in columns {
      let word = row.load(UInt32.self, at: x &* 4)
      if word == before { continue }
      before = word
      add(word)
    }
  }

  private mutating func addDeep(_ bitmap: Bitmap, row y: Int, _ columns: Range<Int>) {
    let row = bitmap.row(y)
    var before: UInt64?
    for x in columns {
      var word = row.load(UInt64.self, at: x &* 8)
      if word == before { continue }
      before = word
      if !keepsHiddenColors, word >> 48 == 0 { word = 0 }
      let high = word &>> 8 & 0x00ff_00ff_00ff_00ff
      if word & 0x00ff_00ff_00ff_00ff != high {
        fits8Bits = false
        colors = nil
      }
      let samples = (word & 0xffff, word >> 16 & 0xffff, word >> 32 & 0xffff, word >> 48)
      if samples.0 != samples.1 || samples.1 != samples.2 { isGrey = false }
      if samples.3 != 0xffff {
        isOpaque = false
        if word != 0 { isOpaqueOrClear = false }
      }
      let pairs = high | high >> 8
      addColor(UInt32(truncatingIfNeeded: pairs & 0xffff | pairs >> 16 & 0xffff_0000))
    }
  }

  @inline(__always)
  private mutating func add(_ stored: UInt32) {
    var word = stored
    let alpha = word >> 24
    if alpha != 255 {
      if alpha == 0, !keepsHiddenColors { word = 0 }
      isOpaque = false
      if word != 0 { isOpaqueOrClear = false }
    }
    if (word ^ word >> 8) & 0xffff != 0 { isGrey = false }
    addColor(word)
  }

  @inline(__always)
  private mutating func addColor(_ word: UInt32) {
    if word >> 24 == 255, isOpaqueOrClear, findsUnused {
      let color = Int(word & 0xff_ffff)
      used[color >> 6] |= 1 << UInt64(color & 63)
    }
    guard let count = colors?.count else { return }
    let key = UInt64(word) | 1 << 32
    var slot = Int((word &* 0x9E37_79B1) >> (32 - Self.slotBits))
    while slots[slot] != 0 {
      if slots[slot] == key { return }
      slot = (slot + 1) & (1 << Int(Self.slotBits) - 1)
    }
    slots[slot] = key
    if count == 256 { colors = nil } else { colors?.append(word) }
  }

  /// Returns whether a palette that `reduction` allows can contain the colours of all pictures.
  package func fits(_ reduction: ColorReduction) -> Bool {
    guard let colors, isOpaqueOrClear || reduction.keepsAlpha else { return false }
    // In an APNG, a palette need not have an entry for transparent pixels.
    if reduction.keepsAlpha, reduction.limit == 256 { return true }
    let count = colors.count { $0 != 0 }
    // If every pixel is opaque, frames can draw their unchanged pixels again instead of leaving them out. With a lower
    // limit, the table would need twice as many entries for the index of unchanged pixels.
    return count < reduction.limit
      || count == 256 && reduction.limit == 256 && isOpaque && !reduction.keepsAlpha
  }

  /// The lowest colour that no opaque pixel has, as a word without alpha, or nil if opaque pixels have every colour.
  /// The bytes of the word are 8-bit samples; multiplied by 257, they are 16-bit samples.
  var unusedColor: UInt32? {
    if used.isEmpty { return 0 }
    guard let place = used.firstIndex(where: { $0 != .max }) else { return nil }
    return UInt32(place << 6 | (~used[place]).trailingZeroBitCount)
  }

  /// The lowest 8-bit grey level that no opaque pixel has, or nil if opaque pixels have every level.
  var unusedGrey: Int? {
    (0..<256).first { level in
      let color = level * 0x01_0101
      return used.isEmpty || used[color >> 6] >> UInt64(color & 63) & 1 == 0
    }
  }
}
