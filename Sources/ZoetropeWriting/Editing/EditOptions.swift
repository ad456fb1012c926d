/// How edits interpret and store delays, and how new pictures are stored.
public struct EditOptions: Sendable, Hashable {
  /// How the delays of the source are interpreted. Default: ``DelayPolicy/browser``, which replaces delays of 10 ms or
  /// less with 100 ms.
  ///
  /// A delay that no edit changes is stored unchanged, however short it is.
  public var delayPolicy: DelayPolicy
  /// What happens to frames that edits make so short that browsers would show them for 100 ms. Default: `merge`, which
  /// drops frames that would last less than 2 cs in a GIF, or less than 11 ms in an APNG, and adds their time to
  /// others, so that the total duration does not change.
  public var shortDelays: AnimationWriterOptions.ShortDelays
  /// The format of the output, whatever the name of the file. Default: nil, which means the format of the source.
  /// ``AnimationFormat/png`` means APNG. In a different format, no compressed frame can be copied. A format that cannot
  /// be written is rejected with ``AnimatedImageError/Code/unwritable``.
  public var format: AnimationFormat?
  /// How colours that a GIF cannot hold are reduced, or how many colours an APNG may have. Default:
  /// ``ColorPolicy/automatic``. For a GIF of scaled pictures, this means ``ColorPolicy/limited(to:)`` with 256, except
  /// with the filter ``ScalingFilter/nearest``.
  ///
  /// If a scaled-down GIF would be larger than its source (of at most 64 MiB), palettes of 128, 64, 32, 16 and 8 colours
  /// without dithering are tried in turn, until the file is no larger. If edits repeat frames, the file may be larger in
  /// proportion. ``WrittenAnimation/colorLimit`` is the number of colours that was used. If no palette makes the file
  /// small enough, palettes have up to 256 colours. To turn this off, set ``ColorPolicy/limited(to:)`` with 256, another
  /// ``dithering``, or ``budget``.
  public var colors: ColorPolicy
  /// How pixels whose colour is not in the palette are drawn. Default: ``Dithering/automatic``.
  public var dithering: Dithering
  /// How partly transparent pixels are stored in a GIF. Default: pixels with an alpha of 128 or more become opaque, all
  /// others transparent.
  public var transparency: Transparency
  /// How much colours may differ from the original, from 0 to 200, as in ``AnimationWriterOptions/tolerance``. Default:
  /// 0. With a higher value, no frame is copied, unless the lossless file would be no larger.
  public var tolerance: Int
  /// The maximum size of the output in bytes. Default: nil, which means no limit. ``AnimatedImage/plan(_:options:)``
  /// ignores the limit.
  public var budget: ByteBudget?
  /// How much time is spent on compressing frames that cannot be copied. Default: `balanced`.
  public var effort: EncodingEffort
  /// Whether fully transparent pixels keep their colours in an APNG. Default: false. The option has an effect only if
  /// all frames are compressed again. If some frames are copied, the other frames keep the colours of fully transparent
  /// pixels wherever the file's pixel format can store them.
  public var keepsHiddenColors: Bool
  /// The number of threads that encode. Default: 0, which means one per processor. The number does not affect the
  /// output. A single thread encodes the new frames between copied frames, and the frames of a crop.
  public var parallelism: Int
  /// Whether an APNG stores RGBA or RGB even if a palette or grey would suffice.
  package var storesRGBA = false
  /// Whether all frames are compressed again. Default: false.
  var encodesAll = false

  /// Creates options; omitted arguments take their defaults.
  public init(
    delayPolicy: DelayPolicy = .browser, shortDelays: AnimationWriterOptions.ShortDelays = .merge,
    format: AnimationFormat? = nil, colors: ColorPolicy = .automatic,
    dithering: Dithering = .automatic, transparency: Transparency = .threshold(),
    tolerance: Int = 0, budget: ByteBudget? = nil,
    effort: EncodingEffort = .balanced, keepsHiddenColors: Bool = false, parallelism: Int = 0
  ) {
    self.delayPolicy = delayPolicy
    self.shortDelays = shortDelays
    self.format = format
    self.colors = colors
    self.dithering = dithering
    self.transparency = transparency
    self.tolerance = tolerance
    self.budget = budget
    self.effort = effort
    self.keepsHiddenColors = keepsHiddenColors
    self.parallelism = parallelism
  }
}
