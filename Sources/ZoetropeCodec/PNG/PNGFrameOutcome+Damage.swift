extension PNGFrameOutcome {
  /// Returns the worst defect of the frame, or nil if the frame is intact.
  ///
  /// - Parameter byteCount: The number of bytes of the frame's range that are available.
  func damage(of control: FrameControl, in data: PNGStreamAssembler, byteCount: Int) -> Damage? {
    let start = control.byteRange.lowerBound
    let end = start + byteCount
    func make(_ kind: Damage.Kind, _ detail: String, at offset: Int) -> Damage {
      Damage(
        kind, detail, frameIndex: control.index, byteOffset: offset,
        validRows: kind.isTolerated ? nil : rows)
    }
    if rows < control.rect.height {
      return switch fault {
      case .filter: make(.pngFilter, "a row has an unknown filter type", at: start)
      case .stream:
        make(
          .pngStream, message.isEmpty ? "the compressed data is malformed" : message, at: start)
      default:
        data.isCut
          ? make(.pngTruncated, "the data ends inside the frame", at: end)
          : make(.pngShort, "the compressed data ends before the last row", at: end)
      }
    }
    if let badChunk = data.badChunk {
      return make(
        data.isSequenced ? .pngCRC : .pngImageCRC, "a data chunk has a wrong CRC",
        at: start + badChunk)
    }
    return switch fault {
    case .none:
      data.isCut
        ? make(.pngStreamEnd, "the file ends before the compressed data does", at: end) : nil
    case .adler: make(.pngAdler, "the compressed data has a wrong checksum", at: end)
    case .surplus: make(.pngSurplus, "there is data after the last pixel", at: end)
    default: make(.pngStreamEnd, "the compressed data does not end properly", at: end)
    }
  }
}
