/// Names what was wrong with one frame's data; the worst of it when there are several faults.
struct PNGDamage {
  let ending: PNGEnding
  let data: PNGFrameData
  let control: FrameControl
  /// Bytes of the frame's range that were there.
  let byteCount: Int

  /// The damage, or nil.
  var damage: Damage? {
    let start = control.byteRange.lowerBound
    let end = start + byteCount
    if ending.rows < control.rect.height {
      return switch ending.fault {
      case .filter: make(.pngFilter, "no such row filter", at: start)
      case .stream:
        make(.pngStream, ending.message.isEmpty ? "broken data" : ending.message, at: start)
      default:
        data.isCut
          ? make(.pngTruncated, "the data ends inside the frame", at: end)
          : make(.pngShort, "pixels are missing", at: end)
      }
    }
    if let badChunk = data.badChunk {
      return make(
        data.isSequenced ? .pngCRC : .pngImageCRC, "a data chunk has a wrong CRC",
        at: start + badChunk)
    }
    return switch ending.fault {
    case .none: data.isCut ? make(.pngStreamEnd, "the data has no end", at: end) : nil
    case .adler: make(.pngAdler, "the stream has a wrong checksum", at: end)
    case .surplus: make(.pngSurplus, "more data than pixels", at: end)
    default: make(.pngStreamEnd, "the stream has no end", at: end)
    }
  }

  private func make(_ kind: Damage.Kind, _ detail: String, at offset: Int) -> Damage {
    Damage(
      kind, detail, frameIndex: control.index, byteOffset: offset,
      validRows: kind.isTolerated ? nil : ending.rows)
  }
}
