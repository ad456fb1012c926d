/// The form in which an APNG stores the pixels of all its frames.
///
/// Samples have at least eight bits, because ffmpeg draws frames of packed pixels in the wrong place and does not draw
/// frames of one-bit pixels at all.
struct PNGStorage: Sendable {
  let form: PNGForm
  /// The palette, or nil if pixels are stored as samples.
  let table: ColorTable?
  /// The samples of the transparent colour (one for grey, three for RGB), or nil if there is no such colour.
  let key: [UInt16]?
  /// Whether a frame can have transparent pixels.
  let holdsClear: Bool

  private init(
    _ type: PNGForm.ColorType, bitDepth: Int, table: ColorTable? = nil, key: [UInt16]? = nil,
    holdsClear: Bool = true
  ) {
    form = PNGForm(colorType: type, bitDepth: bitDepth)
    self.table = table
    self.key = key
    self.holdsClear = holdsClear
  }

  /// Creates the form RGBA with 8 or 16 bits per sample, which can store all pictures.
  init(isDeep: Bool) { self.init(.rgba, bitDepth: isDeep ? 16 : 8) }

  /// Creates a form with a palette of up to 256 colours. Returns nil if `palette` is nil.
  init?(palette: [UInt32]?) {
    guard let palette, let table = Self.table(palette) else { return nil }
    self.init(.palette, bitDepth: 8, table: table, holdsClear: table.colors.contains(0))
  }

  /// Creates the smallest form that can store the colours of `survey`.
  ///
  /// If the pictures are opaque and leave a colour unused, that colour becomes the transparent colour, so that a frame
  /// can leave pixels unchanged.
  ///
  /// - Parameters:
  ///   - allowsGrey: Whether grey pictures may be stored as grey.
  ///   - prefersGrey: Whether grey pictures are stored as grey even if a palette would take fewer bytes, because the
  ///     file's colour profile is for grey.
  init(_ survey: ColorSurvey, allowsGrey: Bool, prefersGrey: Bool = false) {
    let isDeep = survey.isDeep && !survey.fits8Bits
    let depth = isDeep ? 16 : 8
    let isGrey = survey.isGrey && allowsGrey
    if isGrey, let form = Self.marked(survey, .grey, depth) {
      self = form
    } else if !(isGrey && prefersGrey), let form = Self(palette: survey.colors) {
      self = form
    } else if !isGrey, let form = Self.marked(survey, .rgb, depth) {
      self = form
    } else {
      self.init(isGrey ? .greyAlpha : .rgba, bitDepth: depth)
    }
  }

  /// Returns a grey or RGB form, as `type` says. The form has a transparent colour if an unused colour is available for
  /// it. Returns nil if the form cannot store all colours.
  private static func marked(
    _ survey: ColorSurvey, _ type: PNGForm.ColorType, _ depth: Int
  ) -> Self? {
    guard survey.isOpaqueOrClear else { return nil }
    var samples =
      type == .grey
      ? survey.unusedGrey.map { [UInt16($0)] }
      : survey.unusedColor.map { color in (0..<3).map { UInt16(color >> ($0 * 8) & 0xff) } }
    // Decoders give transparent pixels the colour of the key. In the pictures encoded here, transparent pixels are
    // black, so a key of another colour would change their hidden colour.
    if survey.keepsHiddenColors, !survey.isOpaque, samples?.contains(where: { $0 != 0 }) == true {
      samples = nil
    }
    guard samples != nil || survey.isOpaque else { return nil }
    let key = samples?.map { depth == 16 ? $0 * 257 : $0 }
    return Self(type, bitDepth: depth, key: key, holdsClear: key != nil)
  }

  /// Returns a palette of up to 256 colours. The transparent colour comes first, because some decoders fill with the
  /// first entry when they dispose to the background.
  private static func table(_ found: [UInt32]) -> ColorTable? {
    var colors = found.filter { $0 != 0 }
    if colors.count < ColorIndexer.maximumCount { colors.insert(0, at: 0) }
    return ColorTable(found: colors, area: .max / 64, allowsGrey: false)
  }

  /// The data of the tRNS chunk for ``key``, or nil if there is no transparent colour.
  var keyBytes: [UInt8]? {
    key.map { $0.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] } }
  }
}
