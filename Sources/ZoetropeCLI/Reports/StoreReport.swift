import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The report about a frame store: its contents, and what a `zoetrope cache` command did to it.
struct StoreReport {
  static let schema = "zoetrope.cache/2"

  let directory: FilePath
  let byteLimit: Int
  private var frameCount = 0
  private var byteCount = 0
  private var tables: [FrameStoreStatistics.Table] = []
  private var records = (count: 0, byteCount: 0)
  /// The number of frames and bytes that the command removed, or nil if the command removes none.
  var removed: (frames: Int, bytes: Int)?
  /// The number of frames that were found to be intact, or nil if the command did not read the frames.
  var intactCount: Int?
  /// The number of frames that were found to be damaged and were removed, or nil if the command did not read the
  /// frames.
  var droppedCount: Int?

  /// Creates the report about a directory that has no store.
  init(directory: FilePath, byteLimit: Int) {
    (self.directory, self.byteLimit) = (directory, byteLimit)
  }

  /// Creates the report about the current contents of `store`.
  ///
  /// - Parameter before: The contents before the command removed frames, or nil if it removed none.
  init(_ store: FrameStore, since before: FrameStoreStatistics? = nil) {
    self.init(directory: store.directory, byteLimit: store.byteLimit)
    let statistics = store.statistics
    (frameCount, byteCount) = (statistics.frameCount, statistics.byteCount)
    tables = statistics.tables.sorted {
      ($0.byteCount, $0.size.area) > ($1.byteCount, $1.size.area)
    }
    records = (statistics.recordCount, statistics.recordByteCount)
    if let before {
      removed = (max(before.frameCount - frameCount, 0), max(before.byteCount - byteCount, 0))
    }
  }

  /// The report as text: a line for the whole store, then a line for each table.
  var text: String {
    var text = ""
    if let removed {
      text += "removed \(removed.frames.counted("frame")), \(removed.bytes.byteSize)\n"
    }
    if let intactCount {
      text += "\(intactCount.counted("frame")) intact, \(droppedCount ?? 0) dropped\n"
    }
    text +=
      "\(FileName(directory).text.sanitized): \(frameCount.counted("frame")), "
      + "\(byteCount.byteSize) of \(byteLimit.byteSize); "
      + "\(records.count.counted("record")), \(records.byteCount.byteSize)\n"
    let rows = tables.map { table in
      [
        "\(table.size)", "\(table.format)", "\(table.frameCount)",
        "of \(table.capacity.counted("frame"))", table.byteCount.byteSize, table.name ?? "",
      ]
    }
    let widths = (0..<6).map { column in rows.map { $0[column].count }.max() ?? 0 }
    for row in rows {
      var cells = zip(row, widths).enumerated().map { column, cell in
        column == 2 || column == 4
          ? cell.0.paddedLeft(to: cell.1) : cell.0.paddedRight(to: cell.1)
      }
      if row[5].isEmpty { cells.removeLast() }
      text += "  " + cells.joined(separator: "  ") + "\n"
    }
    return text
  }

  /// Writes the report as one JSON object of ``schema``.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("schema", Self.schema)
      json.field("directory", FileName(directory), base64Key: "directory_base64")
      json.field("frame_count", frameCount)
      json.field("byte_count", byteCount)
      json.field("byte_limit", byteLimit)
      json.field("record_count", records.count)
      json.field("record_bytes", records.byteCount)
      if let removed {
        json.field("removed_frames", removed.frames)
        json.field("removed_bytes", removed.bytes)
      }
      if let intactCount {
        json.field("intact", intactCount)
        json.field("dropped", droppedCount)
      }
      json.array("tables") { json in
        for table in tables {
          json.object {
            if let name = table.name { $0.field("name", name) }
            $0.field("width", table.size.width)
            $0.field("height", table.size.height)
            $0.field("pixel_format", "\(table.format)")
            $0.field("frame_count", table.frameCount)
            $0.field("capacity", table.capacity)
            $0.field("byte_count", table.byteCount)
          }
        }
      }
    }
  }
}
