public import CZoetrope
internal import Zoetrope

// Unsafe: arguments come from C, under the header's contract. `ForeignMemory` and `ForeignOutput` check and copy them.

/// Implements `zoetrope_rewrite`, which zoetrope.h documents.
@c(zoetrope_rewrite)
public func rewrite(
  _ animation: OpaquePointer?, _ edits: UnsafePointer<zoetrope_edit>?, _ count: Int,
  _ elementSize: Int, _ options: UnsafePointer<zoetrope_writer_options>?,
  _ destination: UnsafePointer<zoetrope_destination>?,
  _ written: UnsafeMutablePointer<zoetrope_written>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe write(animation, options, destination, written, error) {
    (image, given, path) throws(AnimatedImageError) in
    let given = (
      edits: try unsafe parsed(edits, count: count, elementSize: elementSize),
      options: try given.editOptions(of: image, to: path), preset: try given.uploadPreset()
    )
    return { (sink, call) throws(AnimatedImageError) in
      let isCancelled: @Sendable () -> Bool = { call.isCancelled }
      var (edits, options) = (given.edits, given.options)
      let dropped = try given.preset?.apply(to: &edits, &options, of: image) ?? 0
      guard let budget = options.budget else {
        let plan = try EditPlan(image, edits, options, isCancelled: isCancelled)
        return WrittenFile(try plan.write(to: sink, isCancelled: isCancelled), plan)
      }
      let found = try image.fitted(edits, options, to: budget, isCancelled: isCancelled)
      try given.preset?.check(found.plan)
      let written = try found.write(to: sink, isCancelled: isCancelled) { _ in }
      var file = WrittenFile(written, found.plan)
      file.frameRate = found.settings.rate ?? 0
      file.droppedCount = dropped + found.droppedCount
      return file
    }
  }
}

/// Implements `zoetrope_optimize`, which zoetrope.h documents.
@c(zoetrope_optimize)
public func optimize(
  _ animation: OpaquePointer?, _ options: UnsafePointer<zoetrope_writer_options>?,
  _ destination: UnsafePointer<zoetrope_destination>?,
  _ written: UnsafeMutablePointer<zoetrope_written>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe write(animation, options, destination, written, error) {
    (image, given, path) throws(AnimatedImageError) in
    let writing = try given.writerOptions()
    let own = image.format.outputFormat
    guard try given.format(for: nil) ?? own == own else {
      throw AnimatedImageError(
        .parameter, "format is not the animation's format, which zoetrope_optimize cannot change")
    }
    // As everywhere in C, a format that is given wins over the name.
    if given.format == 0, let path, let word = path.extension,
      let named = AnimationFormat(fileExtension: word), named != own
    {
      throw AnimatedImageError(
        .parameter,
        "zoetrope_optimize keeps the format, \(image.format.rawValue.uppercased()), but "
          + "\(path.quoted) ends in .\(word); use zoetrope_rewrite")
    }
    guard try given.uploadPreset() == nil else {
      throw AnimatedImageError(.parameter, "preset can be used only with zoetrope_rewrite")
    }
    let options = OptimizingOptions(
      effort: writing.effort, tolerance: writing.tolerance,
      stripsMetadata: try value(given.strip, of: [false, true], "strip"),
      memoryByteLimit: writing.memoryByteLimit, parallelism: writing.parallelism)
    let limit = try given.budget()?.byteLimit
    return { (sink, call) throws(AnimatedImageError) in
      let result = try image.optimize(
        to: sink, options: options, byteLimit: limit, isCancelled: { call.isCancelled })
      let written = WrittenAnimation(
        byteCount: result.byteCount, frameCount: result.frameCount, mergedCount: 0,
        copiedCount: result.isCopy ? result.frameCount : 0)
      var file = WrittenFile(written, image.format, image.canvasSize, nil)
      (file.tolerance, file.colors) = (result.tolerance, result.colors ?? 0)
      file.isStripped = result.losesMetadata
      return file
    }
  }
}

extension zoetrope_writer_options {
  /// Returns the options for rewriting the file.
  fileprivate func editOptions(
    of image: AnimatedImage, to path: FilePath?
  ) throws(AnimatedImageError) -> EditOptions {
    let writing = try writerOptions()
    let own = image.format.outputFormat
    let format = try format(for: path) ?? own
    return EditOptions(
      delayPolicy: try value(delays, of: delayPolicies, "delays"), shortDelays: writing.shortDelays,
      // A still PNG remains a still PNG.
      format: format == own ? nil : format, colors: writing.colors, dithering: writing.dithering,
      transparency: writing.transparency, tolerance: writing.tolerance, budget: try budget(),
      effort: writing.effort, keepsHiddenColors: writing.keepsHiddenColors,
      parallelism: writing.parallelism)
  }
}

/// The part of rewriting that does not use the caller's memory.
private typealias Rewriting =
  @Sendable (Destination, DecodingCall) throws(AnimatedImageError) -> WrittenFile

/// Writes an animation to a destination that comes from C.
///
/// - Parameter prepare: A closure that reads the arguments in the caller's memory, and returns the rest of the work.
private func write(
  _ animation: OpaquePointer?, _ options: UnsafePointer<zoetrope_writer_options>?,
  _ destination: UnsafePointer<zoetrope_destination>?,
  _ written: UnsafeMutablePointer<zoetrope_written>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?,
  _ prepare: (AnimatedImage, zoetrope_writer_options, FilePath?) throws(AnimatedImageError) ->
    Rewriting
) -> zoetrope_status {
  var target: Destination?
  let status = unsafe attempt(error) { () throws(AnimatedImageError) in
    try unsafe zoetrope_written.clear(written)
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let call = try handle.calls.begin()
    let given = try unsafe read(
      options, over: zoetrope_writer_options(), "zoetrope_writer_options")
    let sink = try unsafe Destination(destination)
    target = sink
    try unsafe zoetrope_written.check(written, for: sink)
    let rewriting = try prepare(handle.image, given, sink.path)
    // A cancelled call returns while a thread is still working. That thread must no longer write to the destination.
    defer { sink.close() }
    let result = try handle.calls.run(call, work: .max) { () throws(AnimatedImageError) in
      try rewriting(sink, call)
    }
    try unsafe zoetrope_written.write(result, sink, to: written)
  }
  // Reading the animation fails with the same code, so the caller cannot tell the two apart otherwise.
  if status == zoetrope_status(ZOETROPE_IO), target?.hasFailed == true, let error = unsafe error {
    var failure = unsafe UnsafeRawPointer(error).loadUnaligned(as: zoetrope_error.self)
    failure.of_destination = 1
    unsafe ZoetropeC.write(failure, to: error)
  }
  return status
}

/// Returns the edits at `edits`, which are in the caller's memory.
private func parsed(
  _ edits: UnsafePointer<zoetrope_edit>?, count: Int, elementSize: Int
) throws(AnimatedImageError) -> [AnimationEdit] {
  guard (0...1000).contains(count) else {
    throw AnimatedImageError(
      .parameter, "count is \(UInt(bitPattern: count)); it must be 0 to 1000")
  }
  guard count > 0 else { return [] }
  try unsafe check(elementSize, of: zoetrope_edit.self, "element_size", "zoetrope_edit")
  let start = try unsafe UnsafeRawPointer(required(edits, "edits"))
  var parsed: [AnimationEdit] = []
  for place in 0..<count {
    let edit = try unsafe element(
      start + place * elementSize, size: elementSize, over: zoetrope_edit(), "zoetrope_edit")
    parsed.append(try unsafe edit.edit())
  }
  return parsed
}

// Unsafe: the struct contains a pointer to numbers. The numbers are copied.
extension zoetrope_edit {
  /// Returns the edit that the struct describes.
  ///
  /// - Throws: `parameter` for an unknown kind of edit, or for numbers that no animation can have.
  fileprivate func edit() throws(AnimatedImageError) -> AnimationEdit {
    guard unsafe reserved == 0 else {
      throw AnimatedImageError(
        .parameter, "zoetrope_edit.reserved is \(unsafe reserved); it must be 0")
    }
    let (start, end) = unsafe (self.start, self.end)
    switch unsafe Int(kind) {
    case ZOETROPE_EDIT_FRAMES:
      if let indices = unsafe self.indices {
        let count = unsafe index_count
        guard (1...1 << 24).contains(count) else {
          throw AnimatedImageError(
            .parameter, "index_count is \(UInt(bitPattern: count)); it must be 1 to \(1 << 24)")
        }
        return unsafe .frames(at: numbers(indices, count: count).map { Int($0) })
      }
      return try unsafe .frames(range("frames", start, end) { Int($0) })
    case ZOETROPE_EDIT_TIME:
      return try unsafe .time(range("the time", start, end) { .nanoseconds($0) })
    case ZOETROPE_EDIT_SPEED: return unsafe .speed(number)
    case ZOETROPE_EDIT_DURATION: return .duration(.nanoseconds(end))
    case ZOETROPE_EDIT_FRAME_RATE: return unsafe .framesPerSecond(number)
    case ZOETROPE_EDIT_REVERSE: return .reverse
    case ZOETROPE_EDIT_BACK_AND_FORTH: return .backAndForth
    case ZOETROPE_EDIT_CROP:
      let sides: ClosedRange<Int64> = 0...Int64(Int32.max)
      guard unsafe [x, y, width, height].allSatisfy({ sides.contains($0) }) else {
        throw AnimatedImageError(
          .parameter,
          "the crop is \(unsafe width)x\(unsafe height) at \(unsafe x), \(unsafe y); each number "
            + "must be 0 to \(Int32.max)")
      }
      return unsafe .crop(
        PixelRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height)))
    case ZOETROPE_EDIT_RESIZE: return try unsafe resize()
    case ZOETROPE_EDIT_PLAYS:
      guard end >= 0 else {
        throw AnimatedImageError(.parameter, "plays is \(end); it must be 0 or more")
      }
      return .playCount(end == 0 ? .indefinite : .finite(Int(end)))
    case ZOETROPE_EDIT_DELAY:
      guard unsafe delay_denominator > 0 else {
        throw AnimatedImageError(.parameter, "delay_denominator is 0")
      }
      return unsafe .delay(
        FrameDelay(numerator: delay_numerator, denominator: delay_denominator))
    default:
      throw AnimatedImageError(
        .parameter, "zoetrope_edit.kind is \(unsafe kind); it must be a ZOETROPE_EDIT_ constant")
    }
  }

  private func resize() throws(AnimatedImageError) -> AnimationEdit {
    let sides: ClosedRange<Int64> = 0...65535
    let (width, height) = unsafe (self.width, self.height)
    guard sides.contains(width), sides.contains(height), width + height > 0 else {
      throw AnimatedImageError(
        .parameter, "the box is \(width)x\(height); sides must be 0 to 65535, and not both 0")
    }
    let enlarges = try unsafe value(no_enlarging, of: [true, false], "no_enlarging")
    let target = TargetSize(
      width: width > 0 ? Int(width) : nil, height: height > 0 ? Int(height) : nil,
      allowsEnlarging: enlarges)
    return .resize(
      target, fit: try unsafe value(fit, of: scalingFits, "fit"),
      filter: try unsafe value(filter, of: scalingFilters, "filter"),
      linearLight: try unsafe value(linear_light, of: [false, true], "linear_light"))
  }

  private func range<Bound: Comparable>(
    _ name: String, _ start: Int64, _ end: Int64, _ bound: (Int64) -> Bound
  ) throws(AnimatedImageError) -> Range<Bound> {
    guard start >= 0, start < end else {
      throw AnimatedImageError(
        .parameter,
        "\(name) is \(start) to \(end); the start must be 0 or more and less than the end")
    }
    return bound(start)..<bound(end)
  }
}
