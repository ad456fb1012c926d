/// How pictures are turned into a terminal's bytes.
public struct EncodingOptions: Sendable, Hashable {
  /// A cell stays as it is while no channel of what it shows is farther than this from what it
  /// should show, in coded values of 0 to 255. Default: 2; 0 sends every change.
  public var holdThreshold: Int
  /// In which numbers cells average and compare colours. Default: ``LightModel/coded``.
  public var light: LightModel
  /// What transparent pixels are laid over. Default: ``Backdrop/black``.
  public var backdrop: Backdrop
  /// Whether images keep their transparency where the terminal can show it. Default: true.
  public var keepsTransparency: Bool
  /// Whether 256 and 16 colours are dithered, by a pattern fixed to the screen. Default: true.
  public var dithers: Bool

  /// Options; each argument left out has its default.
  public init(
    holdThreshold: Int = 2, light: LightModel = .coded, backdrop: Backdrop = .black,
    keepsTransparency: Bool = true, dithers: Bool = true
  ) {
    self.holdThreshold = holdThreshold
    self.light = light
    self.backdrop = backdrop
    self.keepsTransparency = keepsTransparency
    self.dithers = dithers
  }

  /// Options that send every change.
  public static let exact = EncodingOptions(holdThreshold: 0)
}
