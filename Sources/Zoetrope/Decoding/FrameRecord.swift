/// One scanned frame: its public description and what only the decoder needs, which lies in there too.
package struct FrameRecord: Sendable, Hashable {
  package var control: FrameControl
  /// GIF: entries of the frame's own palette, 0 when it has none.
  package var localPaletteCount: Int { Int(control.localPaletteCount) }
  /// GIF: the palette index that leaves the canvas as it is; nil when there is none.
  package var transparentIndex: UInt8? { control.transparentIndex }

  package init(
    control: FrameControl, localPaletteCount: Int = 0, transparentIndex: UInt8? = nil
  ) {
    self.control = control
    self.control.localPaletteCount = UInt16(clamping: localPaletteCount)
    self.control.transparentIndex = transparentIndex
  }

  fileprivate init(listed control: FrameControl) { self.control = control }
}

/// The scanned frames in order, kept as the list that is public: a second one would double what each
/// frame of a file takes.
package struct FrameRecordList: RandomAccessCollection, Sendable, Hashable {
  package private(set) var controls: [FrameControl] = []

  package init(_ controls: [FrameControl] = []) { self.controls = controls }

  package var startIndex: Int { 0 }
  package var endIndex: Int { controls.count }
  package subscript(index: Int) -> FrameRecord { FrameRecord(listed: controls[index]) }

  package mutating func append(_ record: FrameRecord) { controls.append(record.control) }
}
