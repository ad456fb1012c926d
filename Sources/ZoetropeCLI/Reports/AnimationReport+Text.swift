import Zoetrope
import ZoetropeProcess

extension AnimationReport {
  /// Returns the report as text.
  func text(showsFrames: Bool, showsMetadata: Bool) -> String {
    var text = "\(input.name.sanitized): \(headline)\n"
    text += Self.row("bytes", "\(image.byteCount)")
    // An image with one frame has no motion, so its times are not shown.
    if image.frames.count > 1 {
      text += Self.row("duration", durations)
      text += Self.row("delays", delays)
    }
    if image.staticImage != nil {
      text += Self.row("static", "the static image is not a frame; extract it with --static")
    }
    for item in damage.prefix(8) { text += Self.row("damage", item.sentence.sanitized) }
    if damage.count > 8 { text += Self.row("damage", "and \(damage.count - 8) more") }
    if showsMetadata { text += metadata }
    if showsFrames { text += frameTable }
    return text
  }

  private var headline: String {
    let count = image.frames.count
    let name = image.format.rawValue.uppercased()
    var text = "\(name), \(image.canvasSize), \(count.counted("frame"))"
    if count > 1 {
      switch image.playCount {
      case .indefinite: text += ", plays forever"
      case .finite(1): text += ", plays once"
      case .finite(let plays): text += ", plays \(plays) times"
      }
    }
    return text
  }

  private var durations: String {
    guard policies.isEmpty else {
      return policies.map { "\(image.frames.duration($0.policy)) ms \($0.name.description)" }
        .joined(
          separator: ", ")
    }
    let shown = shownDuration
    let stored = storedDuration
    var text = "\(shown) ms per play"
    if let words = shown.minutesAndSeconds { text += " (\(words))" }
    if shown != stored { text += " with \(policy) timing, \(stored) ms as stored" }
    return text
  }

  private var delays: String {
    var range: (least: Decimal, most: Decimal)?
    var raised = 0
    image.frames.forEachDelay { delay, count in
      let value = Decimal(delay)
      range = (min(range?.least ?? value, value), max(range?.most ?? value, value))
      if policy.shownDuration(of: delay) != delay.duration { raised += count }
    }
    guard let (least, most) = range else { return "none" }
    var text = least == most ? "\(least) ms each" : "\(least) to \(most) ms"
    if raised > 0 {
      text +=
        "; \(raised) short \(raised == 1 ? "delay is" : "delays are") raised with \(policy) "
        + "timing, as players do"
    }
    return text
  }

  private var metadata: String {
    let data = image.metadata
    var text = ""
    for item in data.texts { text += Self.row(item.key.sanitized, item.value.sanitized) }
    for block in data.applicationBlocks {
      text += Self.row("block", "\(block.identifier.sanitized), \(block.byteCount) bytes")
    }
    if let gamma = data.gamma {
      text += Self.row("gamma", Self.gamma(gamma))
    }
    if let intent = data.srgbIntent { text += Self.row("sRGB", "rendering intent \(intent)") }
    if let profile = data.iccProfile {
      let name = (data.iccProfileName ?? "").sanitized
      text += Self.row("profile", "\(name.isEmpty ? "unnamed" : name), \(profile.count) bytes")
    }
    if let cicp = data.cicp {
      text += Self.row("cicp", cicp.map(String.init).joined(separator: " "))
    }
    if let density = data.pixelDensity {
      let unit = density.isPerMeter ? "pixels per metre" : "ratio only"
      text += Self.row("density", "\(density.x) by \(density.y), \(unit)")
    }
    if let exif = data.exif { text += Self.row("exif", "\(exif.count) bytes") }
    if let xmp = data.xmp { text += Self.row("xmp", "\(xmp.utf8.count) bytes") }
    return text.isEmpty ? Self.row("metadata", "none") : text
  }

  private var frameTable: String {
    var titles = ["frame", "start ms", "delay ms", "shown ms", "rect", "dispose", "blend", "bytes"]
    var widths = [6, 10, 9, 9, 20, 10, 6, 0]
    if !policies.isEmpty {
      titles = ["frame", "stored"] + policies.map(\.name.description)
      widths = [6] + titles.dropFirst().map { _ in 9 }
    }
    if hashes != nil {
      widths[widths.count - 1] = policies.isEmpty ? 16 : 9
      titles.append(PixelHash.algorithm)
      widths.append(0)
    }
    var text = "  " + Self.line(titles, widths) + "\n"
    for (frame, (start, shown)) in zip(image.frames, times(of: image.frames)) {
      var cells = ["\(frame.index)\(frame.isIndependent ? "*" : "")"]
      if policies.isEmpty {
        cells += [
          "\(start)", "\(Decimal(frame.delay))", "\(shown)", "\(frame.rect)", frame.disposal.name,
          frame.blend == .source ? "source" : "over",
          "\(frame.byteRange.lowerBound)+\(frame.byteRange.count)",
        ]
      } else {
        cells.append("\(Decimal(frame.delay))")
        cells += policies.map { "\(Decimal($0.policy.shownDuration(of: frame.delay)))" }
      }
      if let hashes {
        cells.append(
          hashes.indices.contains(frame.index) ? hashes[frame.index].description : "")
      }
      text += "  " + Self.line(cells, widths) + "\n"
    }
    return text + "  * can be decoded without an earlier frame\n"
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    zip(cells, widths).map { $0.paddedRight(to: $1) }.joined(separator: " ")
  }

  private static func row(_ title: String, _ value: String) -> String {
    "  \(title.paddedRight(to: 9)) \(value)\n"
  }
}
