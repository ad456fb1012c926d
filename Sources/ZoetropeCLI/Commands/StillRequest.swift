import SystemPackage
import Zoetrope

/// `zoetrope still` as a value.
struct StillRequest: Hashable {
  enum Choice: Hashable {
    /// Counted from 0; negative from the end.
    case frame(Int)
    case time(Duration)
    case poster(PosterChoice)
  }

  var file: String
  var output: String
  var choice: Choice
  /// How the picture is scaled; nil when it is not.
  var rendering: Rendering?
  var format = OutputFormat.png
  var isForced = false
  var options = DecodingOptions()

  /// Writes the picture; nothing is written when it cannot be decoded.
  func run() -> ExitStatus {
    do throws(CommandFailure) {
      let input = InputFile(file)
      let image = try input.open(options)
      let frame: CompositedFrame
      do throws(AnimatedImageError) {
        let whole = try picture(of: image)
        frame = rendering.map { whole.scaled(by: $0) } ?? whole
      } catch {
        throw CommandFailure(error, file: input.name, damage: options.damage)
      }
      try write(frame.bitmap, metadata: image.metadata)
      guard let damage = frame.damage, !damage.kind.isTolerated else { return .success }
      FileDescriptor.note("zoetrope: \(input.name.sanitized): \("\(damage)".sanitized)\n")
      return .partial
    } catch {
      if error.status != .success { CommandRunner.report(error, asJSON: false) }
      return error.status
    }
  }

  private func picture(of image: AnimatedImage) throws(AnimatedImageError) -> CompositedFrame {
    let reader = FrameReader(image)
    switch choice {
    case .frame(let number):
      return try reader.frame(at: number < 0 ? image.frames.count + number : number)
    case .time(let time):
      return try reader.frame(at: image.frameIndex(at: time, policy: .exact))
    case .poster(.first): return try reader.frame(at: 0)
    case .poster(.default):
      if let still = try StoredFrameReader(image).staticImage() { return still }
      return try reader.frame(at: 0)
    case .poster(.nonblank):
      while let frame = try reader.next() {
        if frame.bitmap.hasVisiblePixels { return frame }
      }
      return try reader.frame(at: 0)
    }
  }

  private func write(
    _ bitmap: Bitmap, metadata: AnimationMetadata
  ) throws(CommandFailure) {
    do throws(WriteFailure) {
      let bytes = try FrameEncoder(format: format, metadata: metadata).encode(bitmap)
      if output == "-" {
        try FileDescriptor.standardOutput.writeFully(bytes, name: "standard output")
        return
      }
      let path = FilePath(bytes: RawArguments.bytes(of: output))
      try OutputFile.makeDirectory(OutputFile.directory(of: path))
      OutputFile.sweep(OutputFile.directory(of: path))
      try OutputFile.write(bytes, to: path, isReplacing: isForced)
    } catch {
      throw error.commandFailure ?? CommandFailure(.success, code: "closedPipe", "")
    }
  }
}

extension Bitmap {
  /// Whether any pixel of an 8-bit RGBA picture is not wholly transparent.
  fileprivate var hasVisiblePixels: Bool {
    for y in 0..<height {
      let row = pixels(row: y)
      for x in 0..<width where row[x].alpha != 0 { return true }
    }
    return false
  }
}
