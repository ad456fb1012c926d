import Zoetrope
import ZoetropeProcess

/// The report about a file, for `info` and for manifests.
struct AnimationReport {
  /// The name of the JSON schema. The number in ``schema`` changes when a field is removed or its meaning changes.
  static let schemaName = "zoetrope.animation"
  static var schema: String { "\(schemaName)/3" }

  let input: InputFile
  let image: AnimatedImage
  /// The policy that determines the shown times, which are reported beside the stored delays.
  let policy: DelayPolicy
  /// The pictures of a resampled play; nil without `--fps`.
  var pictures: [SampledPicture]?
  /// The frame rate of ``pictures``.
  var rate: PictureRate?
  /// The output of each frame, by frame index; the output of the static image is at nil. The whole dictionary is nil if
  /// nothing is written.
  var outputs: [Int?: WrittenFrame]?
  /// The frames that show each written picture, or nil if each written picture belongs to one frame.
  var showings: PictureShowings?
  /// The hash of each frame's picture, or nil without `--hashes`.
  var hashes: [PixelHash]?
  /// The policies whose times are reported side by side; empty without `--timing all`.
  var policies: [NamedPolicy] = []
  /// The size to which frames were scaled, or nil if they were not scaled.
  var outputSize: PixelSize?
  /// Whether the outputs are stored frames instead of composited ones.
  var isRaw = false
  /// The damage that was found while decoding frames.
  var frameDamage: [Damage] = []
  /// Whether any frame that was decoded for its hash lacks pixels.
  var hasDecodingLosses = false
  /// The reason why the work on the file is incomplete, or nil if it is complete.
  var failure: CommandFailure?

  /// The sum of the stored delays, in milliseconds.
  var storedDuration: Decimal { image.frames.duration(.exact) }

  /// The duration of one play under ``policy``, in milliseconds.
  var shownDuration: Decimal { image.frames.duration(policy) }

  /// All damage, structural damage first.
  var damage: [Damage] { image.damage + frameDamage }

  /// Whether any data was lost: at least one item of damage is not tolerated.
  var hasLosses: Bool { damage.contains { !$0.kind.isTolerated } }

  /// All outputs that were written.
  var written: [WrittenFrame] { pictures?.map(\.output) ?? outputs.map { Array($0.values) } ?? [] }

  /// The condition of the file as far as it is known. If no frames were decoded, only damage to the structure of the
  /// file is known.
  var condition: InputCondition {
    failure.map { InputCondition($0) } ?? InputCondition(hasLosses: hasLosses)
  }
}

extension AnimationReport {
  /// Writes the report as one JSON object.
  ///
  /// Sizes and delays are those stored in the file. `start_ms` and `shown_ms` are times under ``policy``. The options
  /// `--at`, `--time` and `--start` refer to these times.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("schema", Self.schema)
      json.field("file", input.fileName, base64Key: "file_base64")
      json.field("status", condition.rawValue)
      failure?.writeError(to: &json)
      json.field("format", image.format.rawValue)
      json.field("byte_count", image.byteCount)
      json.field("width", image.canvasSize.width)
      json.field("height", image.canvasSize.height)
      if isRaw { json.field("raw", true) }
      if let outputSize { json.field("output_size", [outputSize.width, outputSize.height]) }
      json.field("frame_count", image.frames.count)
      if image.header.codec.hasStaticImages {
        json.object("default_image") { json in
          json.field("is_frame_0", image.staticImage == nil)
          outputs?[nil]?.write(to: &json)
        }
      }
      json.object("loop") { json in
        json.field("raw", image.storedLoopCount.map(Int.init))
        json.field("raw_present", image.storedLoopCount != nil)
        Self.write(image.playCount, to: &json)
      }
      Self.writeDuration(stored: storedDuration, shown: shownDuration, policy, to: &json) {
        if !policies.isEmpty {
          $0.object("by_policy") {
            for named in policies { $0.field(named.name, image.frames.duration(named.policy)) }
          }
        }
      }
      if hashes != nil { json.field("hash_algorithm", PixelHash.algorithm) }
      metadata(&json)
      json.array("damage") { for item in damage { Self.write(item, to: &$0) } }
      json.array("frames") { frames(&$0) }
      if let pictures { write(pictures, to: &json) }
    }
  }

  /// Returns when each frame starts under ``policy``, and how long it is shown. Each frame is shown until the start of
  /// the next one, so that rounded times add up.
  func times(of frames: [FrameControl]) -> [(start: Decimal, shown: Decimal)] {
    let starts = frames.starts(policy)
    return zip(starts, starts.dropFirst() + [shownDuration]).map { ($0, $1 - $0) }
  }

  private func frames(_ json: inout JSONWriter) {
    for (frame, (start, shown)) in zip(image.frames, times(of: image.frames)) {
      let picture = showings?.pictures[frame.index] ?? frame.index
      if let outputs, outputs[picture] == nil { continue }
      json.object { json in
        json.field("index", frame.index)
        json.field("start_ms", start)
        json.fraction("delay", Int(frame.delay.numerator), Int(frame.delay.denominator))
        json.field("stored_ms", Decimal(frame.delay))
        json.field("shown_ms", shown)
        json.field("rect", [frame.rect.x, frame.rect.y, frame.rect.width, frame.rect.height])
        json.field("dispose", frame.disposal.name)
        json.field("blend", frame.blend == .source ? "source" : "over")
        json.field("independent", frame.isIndependent)
        json.field("interlaced", frame.isInterlaced)
        json.field("byte_range", [frame.byteRange.lowerBound, frame.byteRange.count])
        if !policies.isEmpty {
          json.object("by_policy") {
            for named in policies {
              $0.field(named.name, Decimal(named.policy.shownDuration(of: frame.delay)))
            }
          }
        }
        if let hashes, hashes.indices.contains(frame.index) {
          json.field("hash", hashes[frame.index].description)
        }
        outputs?[picture]?.write(to: &json)
        showings?.write(frame.index, to: &json)
      }
    }
  }

  private func write(_ pictures: [SampledPicture], to json: inout JSONWriter) {
    if let rate { json.fraction("picture_rate", rate.numerator, rate.denominator) }
    json.array("pictures") { json in
      for picture in pictures {
        json.object {
          $0.field("number", picture.number)
          $0.field("frame", picture.frame)
          $0.field("start_ms", Decimal(rate?.time(ofPicture: picture.number) ?? .zero))
          picture.output.write(to: &$0)
        }
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
        $0.field("unit", density.isPerMeter ? "metre" : "unknown")
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
            $0.field("byte_count", block.byteCount)
            $0.field("byte_offset", block.byteOffset)
          }
        }
      }
    }
    json.field("xmp_bytes", data.xmp?.utf8.count ?? 0)
    json.field("exif_bytes", data.exif?.count ?? 0)
  }

  /// Returns the value of a gAMA chunk as a decimal number: 45455 is 0.45455.
  static func gamma(_ value: UInt32) -> String {
    let digits = String(value).paddedLeft(to: 6, with: "0")
    return "\(digits.dropLast(5)).\(digits.suffix(5))"
  }

  /// Writes one item of damage as an object.
  static func write(_ damage: Damage, to json: inout JSONWriter) {
    json.object { writeFields(of: damage, to: &$0) }
  }

  /// Writes a number of plays as fields of the current object.
  static func write(_ plays: PlayCount, to json: inout JSONWriter) {
    if case .finite(let count) = plays {
      json.field("plays", count)
    } else {
      json.field("plays", Int?.none)
    }
    json.field("forever", plays == .indefinite)
  }

  /// Writes the duration of one play as a field of the current object.
  ///
  /// - Parameter more: Writes further fields of the duration. Default: none.
  static func writeDuration(
    stored: Decimal, shown: Decimal, _ policy: DelayPolicy, to json: inout JSONWriter,
    more: (inout JSONWriter) -> Void = { _ in }
  ) {
    json.object("duration_ms") {
      $0.field("stored", stored)
      $0.field("shown", shown)
      $0.field("policy", policy.description)
      more(&$0)
    }
  }

  /// Writes one item of damage as fields of the current object.
  static func writeFields(of damage: Damage, to json: inout JSONWriter) {
    json.field("kind", damage.kind.name)
    json.field("tolerated", damage.kind.isTolerated)
    json.field("frame", damage.frameIndex)
    json.field("byte_offset", damage.byteOffset)
    json.field("valid_rows", damage.validRows)
    json.field("reason", damage.detail)
  }
}

extension Damage {
  /// The damage in words, with its frame and byte offset, but without the name of its kind. Frames count from 0.
  var sentence: String {
    let place = frameIndex.map { ", frame \($0)" } ?? ""
    return "\(detail)\(place), byte \(byteOffset)"
  }
}

extension DisposalMethod {
  /// The name of the disposal method in JSON and in tables.
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

/// A picture of a play that was resampled to a constant frame rate.
struct SampledPicture: Hashable, Sendable {
  /// The number of the picture in the play, from 0.
  let number: Int
  /// The index of the frame that the picture shows.
  let frame: Int
  let output: WrittenFrame
}

/// The output of a frame that was written.
struct WrittenFrame: Hashable, Sendable {
  /// The name of the output, or `-` for standard output.
  let name: FileName
  let byteCount: Int
}
