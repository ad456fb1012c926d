/// How the pixels of all frames of a written PNG are stored.
struct PNGStorage: Sendable {
  let form: PNGForm
  /// The colours of a palette, or of grey levels, and how they are stored; nil if samples are stored as they are.
  private(set) var table: ColorTable?
  /// The sample values that stand for transparent: one for grey, three for RGB; nil if none do.
  private(set) var key: [UInt16]?
  /// Whether a frame can have transparent pixels.
  let holdsClear: Bool

  /// RGBA, which holds all pictures.
  init(isDeep: Bool) {
    form = PNGForm(colorType: .rgba, bitDepth: isDeep ? 16 : 8)
    holdsClear = true
  }

  /// The smallest form that holds the colours of `survey`.
  ///
  /// Opaque pictures get a transparent colour too where it costs nothing, for the pixels of a frame that stay.
  init(_ survey: ColorSurvey, allowsGrey: Bool) {
    // Decoders give a transparent pixel the colour of the key, which counts if hidden colours do.
    let mayMark = !survey.keepsHiddenColors || survey.isOpaque
    if let found = survey.colors,
      let table = Self.table(found, allowsGrey: allowsGrey && (mayMark || !found.contains(0)))
    {
      self = Self(table)
      return
    }
    let isDeep = survey.isDeep && !survey.fits8Bits
    let depth = isDeep ? 16 : 8
    let isGrey = survey.isGrey && allowsGrey
    if survey.isOpaqueOrClear {
      var key: [UInt16]? =
        isGrey
        ? survey.unusedGrey.map { [UInt16($0)] }
        : survey.unusedColor.map { color in
          (0..<3).map { UInt16(color >> ($0 * 8) & 0xff) }
        }
      if !mayMark, key?.contains(where: { $0 != 0 }) == true { key = nil }
      if key != nil || survey.isOpaque {
        form = PNGForm(colorType: isGrey ? .grey : .rgb, bitDepth: depth)
        self.key = key.map { samples in samples.map { isDeep ? $0 * 257 : $0 } }
        holdsClear = key != nil
        return
      }
    }
    form = PNGForm(colorType: isGrey ? .greyAlpha : .rgba, bitDepth: depth)
    holdsClear = true
  }

  private init(_ table: ColorTable) {
    form = table.form
    holdsClear = table.colors.contains(0)
    self.table = table
    guard form.colorType == .grey, holdsClear, let place = table.colors.firstIndex(of: 0) else {
      return
    }
    key = [UInt16(table.remap?[place] ?? 0)]
  }

  /// Up to 256 colours as grey levels or a palette.
  private static func table(_ found: [UInt32], allowsGrey: Bool) -> ColorTable? {
    guard !found.isEmpty else { return nil }
    var colors = found
    // A further colour must not need further bits.
    let isFull = [2, 4, 16, 256].contains(colors.count)
    if !colors.contains(0), !isFull { colors.append(0) }
    let opaque = colors.filter { $0 != 0 }
    if allowsGrey, opaque.allSatisfy({ $0 >> 24 == 255 }),
      let table = ColorTable(
        grey: opaque, withClear: opaque.count < colors.count,
        mustHold: found.contains(0))
    {
      return table
    }
    return ColorTable(found: colors, area: .max / 64, allowsGrey: false)
  }

  /// The data of tRNS for ``key``.
  var keyBytes: [UInt8]? {
    key.map { samples in
      let all = form.colorType == .grey ? [samples[0]] : samples
      return all.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    }
  }
}

extension ColorTable {
  /// The grey `colors`, all opaque, at the smallest depth, with a level for transparent pixels; nil if a palette
  /// packs tighter, a colour is not grey, or no level is left for transparent pixels although there are some.
  ///
  /// - Parameters:
  ///   - wantsClear: Whether a level for transparent pixels is of use.
  ///   - mustHold: Whether there are transparent pixels.
  fileprivate init?(grey colors: [UInt32], withClear wantsClear: Bool, mustHold: Bool) {
    guard !colors.isEmpty, let depth = Self.greyDepth(of: colors) else { return nil }
    let count = colors.count + (wantsClear ? 1 : 0)
    let indexDepth = count <= 2 ? 1 : count <= 4 ? 2 : count <= 16 ? 4 : 8
    guard depth <= indexDepth || count > 16 else { return nil }
    let step = UInt32(255 / ((1 << depth) - 1))
    let levels = colors.map { UInt8(($0 & 0xff) / step) }
    let free = (0..<(1 << depth)).first { !levels.contains(UInt8($0)) }
    form = PNGForm(colorType: .grey, bitDepth: depth)
    if wantsClear, let free {
      self.colors = colors + [0]
      remap = levels + [UInt8(free)]
    } else {
      guard !mustHold else { return nil }
      self.colors = colors
      remap = levels
    }
  }
}
