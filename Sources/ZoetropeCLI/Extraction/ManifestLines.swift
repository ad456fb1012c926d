import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The lines of a manifest: JSON lines with an object for each input, or a CSV table with a row for each picture.
struct ManifestLines {
  enum Form: Hashable {
    /// JSON lines in a file.
    case lines
    /// JSON lines that are printed to standard output immediately.
    case printed
    /// Rows of CSV in a file.
    case table
  }

  /// The form of the manifest, or nil if no manifest is written.
  private let form: Form?
  private(set) var bytes: [UInt8] = []

  init(_ form: Form?) {
    self.form = form
    if form == .table { bytes = Array(Self.header.utf8) }
  }

  /// The first line of a table.
  static let header =
    "file,status,frame,picture,start_ms,shown_ms,stored_ms,width,height,output,output_bytes,"
    + "same_as,error\n"

  /// Adds the report about an input.
  mutating func add(_ report: AnimationReport) throws(CommandFailure) -> Delivery {
    guard form != .table else {
      addRows(of: report)
      return .complete
    }
    return try add { report.write(to: &$0) }
  }

  /// Adds `input`, which could not be extracted.
  mutating func add(
    _ failure: CommandFailure, of input: InputFile
  ) throws(CommandFailure) -> Delivery {
    guard form != .table else {
      addRow(
        file: failure.file == nil ? nil : input.fileName, InputCondition(failure),
        error: failure.messageWithAdvice)
      return .complete
    }
    return try add { failure.write(to: &$0, schema: AnimationReport.schema, of: input) }
  }

  private mutating func add(
    _ body: (inout JSONWriter) -> Void
  ) throws(CommandFailure) -> Delivery {
    guard let form else { return .complete }
    let line = CommandRunner.line(body)
    if form == .printed {
      // After a signal the frames of the input are incomplete, and so would be their list.
      return Signals.ending == nil ? try OutputStream.print(line) : .complete
    }
    bytes += line
    return .complete
  }

  /// Returns whether the file at `path` begins like a manifest.
  static func isManifest(_ path: FilePath) -> Bool {
    ["{\"schema\":\"\(AnimationReport.schemaName)/", header].contains {
      OutputFile.isFile(path, beginningWith: Array($0.utf8))
    }
  }
}

// MARK: - CSV

extension ManifestLines {
  private mutating func addRows(of report: AnimationReport) {
    let file = report.input.fileName
    let size = report.outputSize ?? report.image.canvasSize
    let frames = report.image.frames
    let times = report.times(of: frames)
    let before = bytes.count
    for picture in report.pictures ?? [] {
      let start = report.rate.map { Decimal($0.time(ofPicture: picture.number)) }
      let end = report.rate.map { Decimal($0.time(ofPicture: picture.number + 1)) }
      addRow(
        file: file, report.condition, frame: picture.frame, picture: picture.number, start: start,
        shown: end.flatMap { end in start.map { end - $0 } },
        stored: Decimal(frames[picture.frame].delay), size: size, output: picture.output)
    }
    if report.pictures == nil, let outputs = report.outputs {
      if let output = outputs[nil] {
        addRow(file: file, report.condition, size: size, output: output)
      }
      for frame in frames {
        let picture = report.showings?.pictures[frame.index] ?? frame.index
        guard let output = outputs[picture] else { continue }
        addRow(
          file: file, report.condition, frame: frame.index, start: times[frame.index].start,
          shown: times[frame.index].shown, stored: Decimal(frame.delay),
          size: report.isRaw ? frame.rect.size : size, output: output,
          sameAs: picture == frame.index ? nil : picture)
      }
    }
    // Every input has at least one row.
    if bytes.count == before || report.failure != nil {
      addRow(file: file, report.condition, error: report.failure?.messageWithAdvice)
    }
  }

  private mutating func addRow(
    file: FileName?, _ condition: InputCondition, frame: Int? = nil, picture: Int? = nil,
    start: Decimal? = nil, shown: Decimal? = nil, stored: Decimal? = nil, size: PixelSize? = nil,
    output: WrittenFrame? = nil, sameAs: Int? = nil, error: String? = nil
  ) {
    func text(_ value: (some CustomStringConvertible)?) -> [UInt8] {
      value.map { Array($0.description.utf8) } ?? []
    }
    let cells: [[UInt8]] = [
      file.map { $0.bytes ?? Array($0.text.utf8) } ?? [], Array(condition.rawValue.utf8),
      text(frame), text(picture), text(start), text(shown), text(stored), text(size?.width),
      text(size?.height), output.map { $0.name.bytes ?? Array($0.name.text.utf8) } ?? [],
      text(output?.byteCount), text(sameAs), text(error),
    ]
    bytes += cells.map(Self.cell).joined(separator: [UInt8(ascii: ",")]) + [0x0a]
  }

  /// Returns the cell `value`, in quotes if RFC 4180 requires them.
  private static func cell(_ value: [UInt8]) -> [UInt8] {
    let quote = UInt8(ascii: "\"")
    guard value.contains(where: { [quote, UInt8(ascii: ","), 0x0a, 0x0d].contains($0) }) else {
      return value
    }
    return [quote] + value.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
  }
}
