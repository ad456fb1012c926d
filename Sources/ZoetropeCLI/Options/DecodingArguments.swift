import ArgumentParser
import Zoetrope

/// The options that every command which opens files has.
struct DecodingArguments: ParsableArguments {
  @Option(help: "What a file may ask for: default, strict (files from strangers) or none.")
  var limits = LimitsProfile.default

  @Option(
    help: """
      Damaged files: salvage keeps every good frame, strict refuses, partial also keeps the rows \
      of a frame in which the data ends.
      """)
  var damage = DamageChoice.salvage

  @Option(help: "Which decoders to use: fast, or reference (giflib and libpng) to compare.")
  var decoder = DecoderChoice.fast

  /// The options for the library.
  var options: DecodingOptions {
    DecodingOptions(damage: damage.policy, limits: limits.limits, decoder: decoder.decoder)
  }
}
