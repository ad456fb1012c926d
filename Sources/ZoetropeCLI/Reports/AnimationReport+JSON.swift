import Zoetrope

extension AnimationReport {
  /// Writes the report as one object.
  ///
  /// Names, sizes and delays are the file's; `start_ms` and `effective_ms` are times as ``policy``
  /// has them, which `--at`, `--time` and `--start` name.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("schema", Self.schema)
      json.field("file", input.fileName, base64Key: "file_base64")
      failure?.writeError(to: &json)
      json.field("format", image.format.rawValue)
      json.field("bytes", image.byteCount)
      json.field("width", image.canvasSize.width)
      json.field("height", image.canvasSize.height)
      if let outputSize { json.field("output_size", [outputSize.width, outputSize.height]) }
      json.field("frame_count", image.frames.count)
      if image.format != .gif {
        json.object("default_image") { json in
          json.field("is_frame_0", image.staticImage == nil)
          outputs?[nil]?.write(to: &json)
        }
      }
      json.object("loop") { json in
        json.field("raw", image.storedLoopCount.map(Int.init))
        json.field("raw_present", image.storedLoopCount != nil)
        if case .finite(let plays) = image.playCount {
          json.field("plays", plays)
        } else {
          json.field("plays", Int?.none)
        }
        json.field("forever", image.playCount == .indefinite)
      }
      json.object("duration_ms") {
        $0.field("exact", storedDuration)
        $0.field("effective", shownDuration)
        $0.field("policy", policy.description)
      }
      metadata(&json)
      json.array("damage") { for item in damage { Self.write(item, to: &$0) } }
      json.array("frames") { frames(&$0) }
    }
  }

  private func frames(_ json: inout JSONWriter) {
    var start = Decimal(thousandths: 0)
    for frame in image.frames {
      let at = start
      let shown = Decimal(policy.shownDuration(of: frame.delay))
      start += shown
      if let outputs, outputs[frame.index] == nil { continue }
      json.object { json in
        json.field("index", frame.index)
        json.field("start_ms", at)
        json.object("delay") {
          $0.field("num", Int(frame.delay.numerator))
          $0.field("den", Int(frame.delay.denominator))
        }
        json.field("delay_ms", Decimal(frame.delay))
        json.field("effective_ms", shown)
        json.field("rect", [frame.rect.x, frame.rect.y, frame.rect.width, frame.rect.height])
        json.field("dispose", frame.disposal.name)
        json.field("blend", frame.blend == .source ? "source" : "over")
        json.field("independent", frame.isIndependent)
        json.field("interlaced", frame.isInterlaced)
        json.field("bytes", [frame.byteRange.lowerBound, frame.byteRange.count])
        outputs?[frame.index]?.write(to: &json)
      }
    }
  }

  private func metadata(_ json: inout JSONWriter) {
    let data = image.metadata
    json.object("color") {
      $0.field("srgb_intent", data.srgbIntent.map(Int.init))
      $0.field("gamma", numberText: data.gamma.map(Self.gamma))
      if let values = data.chromaticities { $0.field("chromaticities", values.map(Int.init)) }
      $0.field("icc_name", data.iccProfileName)
      $0.field("icc_bytes", data.iccProfile?.count ?? 0)
      if let cicp = data.cicp { $0.field("cicp", cicp.map(Int.init)) }
    }
    if let density = data.pixelDensity {
      json.object("density") {
        $0.field("x", Int(density.x))
        $0.field("y", Int(density.y))
        $0.field("unit", density.isPerMetre ? "metre" : "unknown")
      }
    }
    json.array("text") {
      for item in data.texts {
        $0.object {
          $0.field("key", item.key)
          $0.field("value", item.value)
        }
      }
    }
    if !data.applicationBlocks.isEmpty {
      json.array("application_blocks") {
        for block in data.applicationBlocks {
          $0.object {
            $0.field("identifier", block.identifier)
            $0.field("bytes", block.byteCount)
            $0.field("at_byte", block.byteOffset)
          }
        }
      }
    }
    json.field("xmp_bytes", data.xmp?.utf8.count ?? 0)
    json.field("exif_bytes", data.exif?.count ?? 0)
  }

  /// gAMA as a number: 45455 is 0.45455.
  static func gamma(_ value: UInt32) -> String {
    let digits = String(value).paddedLeft(to: 6, with: "0")
    return "\(digits.dropLast(5)).\(digits.suffix(5))"
  }

  /// Writes one item of damage.
  static func write(_ damage: Damage, to json: inout JSONWriter) {
    json.object { writeFields(of: damage, to: &$0) }
  }

  /// Writes what there is to say of one item of damage, as fields of the object in hand.
  static func writeFields(of damage: Damage, to json: inout JSONWriter) {
    json.field("kind", damage.kind.name)
    json.field("tolerated", damage.kind.isTolerated)
    json.field("frame", damage.frameIndex)
    json.field("at_byte", damage.byteOffset)
    json.field("valid_rows", damage.validRows)
    json.field("reason", damage.detail)
  }
}

extension DisposalMethod {
  /// The word for it in JSON and in tables.
  var name: String {
    switch self {
    case .keep: "none"
    case .background: "background"
    case .previous: "previous"
    }
  }
}

extension WrittenFrame {
  fileprivate func write(to json: inout JSONWriter) {
    json.field("output", name, base64Key: "output_base64")
    json.field("output_bytes", byteCount)
  }
}
