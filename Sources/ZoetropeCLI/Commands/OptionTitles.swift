// The titles under which help and manual pages list the options of each command. An option without
// one stands under OPTIONS; a test asks for a title where a command has any.

extension OptionTitle {
  fileprivate static let reading = OptionTitle("Reading", "follow", "limits", "damage", "decoder")
  fileprivate static let scaling = OptionTitle("Scaling", "size", "fit", "filter", "linear-light")
  fileprivate static let previews = OptionTitle("Previews", "place", "id", "cell", "clear")
  fileprivate static let caching = OptionTitle("Cache", "cache", "cache-limit")
}

extension InfoCommand {
  static let optionTitles = [
    OptionTitle(
      "Report", "json", "format", "frames", "metadata", "hashes", "timing", "save-index"),
    OptionTitle("Reading", "follow", "follow-timeout", "limits", "damage", "decoder"),
  ]
}

extension ExtractCommand {
  static let optionTitles = [
    OptionTitle(
      "Frames", "frames", "time", "every", "max", "unique", "changed-only", "fps", "static",
      "timing"),
    OptionTitle(
      "Output", "output", "format", "compression", "depth", "raw", "bg", "manifest", "force",
      "resume", "progress", "quiet"),
    .scaling, .caching,
    OptionTitle("Reading", "follow", "follow-timeout", "jobs", "limits", "damage", "decoder"),
  ]
}

extension StillCommand {
  static let optionTitles = [
    OptionTitle("Picture", "frame", "at", "poster", "timing"),
    OptionTitle("Output", "output", "format", "force"),
    OptionTitle("Drawing", "protocol", "colors", "passthrough", "bg"), .previews, .scaling,
    .caching,
    .reading,
  ]
}

extension PlayCommand {
  static let optionTitles = [
    OptionTitle(
      "Drawing", "protocol", "colors", "passthrough", "bg", "fit", "filter", "no-status", "inline",
      "exact", "frame", "no-motion", "no-mouse", "no-config"),
    OptionTitle(
      "Playing", "once", "loops", "hold", "start", "speed", "reverse", "bounce", "late", "delay",
      "timing", "duration"),
    OptionTitle("Trace", "trace", "force"), .previews, .caching, .reading,
  ]
}

extension CheckCommand {
  static let optionTitles = [OptionTitle("Report", "strict", "json"), .reading]
}

extension ExplainCommand {
  static let optionTitles = [OptionTitle("Report", "as", "json"), .reading]
}

extension SheetCommand {
  static let optionTitles = [
    OptionTitle("Frames", "frames", "time", "every", "max", "distinct", "timing"),
    OptionTitle("Layout", "columns", "padding", "label", "bg"),
    OptionTitle("Output", "output", "atlas", "atlas-shape", "force", "quiet"), .scaling, .reading,
  ]
}

extension CacheWarmCommand {
  static let optionTitles = [
    OptionTitle("Cache", "cache", "cache-limit", "json"), .scaling, .reading,
  ]
}
