/// The outcome of decoding one PNG frame: the defect of its data, if any, and the rows that it yielded.
struct PNGFrameOutcome {
  enum Fault {
    /// All rows are present, and the stream ends properly.
    case none
    /// All rows are present, but the checksum is wrong, data follows, or the stream does not end properly.
    case adler, surplus, noEnd
    /// Rows are missing.
    case short, filter, stream
  }

  var fault: Fault
  /// Complete rows from the top.
  var rows = 0
  /// libpng's message, if any.
  var message = ""

  /// Returns the frame's worst defect, or nil for an intact frame.
  ///
  /// - Parameter byteCount: The number of available bytes of the frame's range.
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
      case .filter: make(.pngFilter, "no such row filter", at: start)
      case .stream: make(.pngStream, message.isEmpty ? "broken data" : message, at: start)
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
    return switch fault {
    case .none: data.isCut ? make(.pngStreamEnd, "the data has no end", at: end) : nil
    case .adler: make(.pngAdler, "the stream has a wrong checksum", at: end)
    case .surplus: make(.pngSurplus, "more data than pixels", at: end)
    default: make(.pngStreamEnd, "the stream has no end", at: end)
    }
  }
}
