public import CZoetrope
internal import Zoetrope

// Functions that read an open animation: first its properties, then its pixels.
//
// Unsafe: arguments come from C, under the header's contract. `ForeignMemory` checks and copies them.

// MARK: - Properties

/// Implements `zoetrope_get_info`, which zoetrope.h documents.
@c(zoetrope_get_info)
public func getInfo(
  _ animation: OpaquePointer?, _ info: UnsafeMutablePointer<zoetrope_info>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    try unsafe writeSized(zoetrope_info(handle), to: info, "zoetrope_info")
  }
}

extension zoetrope_info {
  fileprivate init(_ handle: AnimationHandle) {
    let image = handle.image
    self.init()
    format = formatNumbers[image.format] ?? 0
    has_static_image = image.staticImage == nil ? 0 : 1
    width = Int64(image.canvasSize.width)
    height = Int64(image.canvasSize.height)
    frame_count = Int64(image.frames.count)
    if case .finite(let count) = image.playCount { plays = Int64(count) }
    stored_loop_count = image.storedLoopCount.map(Int64.init) ?? -1
    byte_count = Int64(image.byteCount)
    damage_count = Int64(image.damage.count)
    metadata_count = Int64(handle.metadata.count)
    largest_frame_work = Int64(handle.frameWork)
  }
}

/// Implements `zoetrope_get_frames`, which zoetrope.h documents.
@c(zoetrope_get_frames)
public func getFrames(
  _ animation: OpaquePointer?, _ delays: Int32, _ first: Int64, _ count: Int,
  _ frames: UnsafeMutablePointer<zoetrope_frame_info>?, _ elementSize: Int,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let policy = try value(delays, of: delayPolicies, "delays")
    let image = handle.image
    let total = image.frames.count
    guard first >= 0, first <= Int64(total), count >= 0, count <= total - Int(first) else {
      throw AnimatedImageError(
        .parameter,
        "first is \(first) and count is \(UInt(bitPattern: count)), but there are \(total) frames")
    }
    try check(elementSize, of: zoetrope_frame_info.self, "element_size", "zoetrope_frame_info")
    guard count > 0 else { return }
    let target = try unsafe UnsafeMutableRawPointer(required(frames, "frames"))
    // Durations are computed as differences of rounded start times, so that they add up.
    let starts = image.startTimes(policy: policy).map(\.nanosecondsRoundedUp)
    for place in 0..<count {
      let frame = image.frames[Int(first) + place]
      var fact = zoetrope_frame_info(frame)
      fact.start_ns = starts[frame.index]
      fact.duration_ns = starts[frame.index + 1] - starts[frame.index]
      unsafe writePrefix(fact, to: target + place * elementSize, elementSize)
    }
  }
}

extension zoetrope_frame_info {
  fileprivate init(_ frame: FrameControl) {
    self.init()
    x = Int64(frame.rect.x)
    y = Int64(frame.rect.y)
    width = Int64(frame.rect.width)
    height = Int64(frame.rect.height)
    delay_numerator = frame.delay.numerator
    delay_denominator = frame.delay.denominator
    disposal = Int32(frame.disposal.rawValue)
    blend = Int32(frame.blend.rawValue)
    is_independent = frame.isIndependent ? 1 : 0
    is_interlaced = frame.isInterlaced ? 1 : 0
    byte_offset = Int64(frame.byteRange.lowerBound)
    byte_count = Int64(frame.byteRange.count)
  }
}

/// Implements `zoetrope_get_duration`, which zoetrope.h documents.
@c(zoetrope_get_duration)
public func getDuration(
  _ animation: OpaquePointer?, _ delays: Int32, _ duration: UnsafeMutablePointer<Int64>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let policy = try value(delays, of: delayPolicies, "delays")
    let target = try unsafe required(duration, "duration_ns")
    unsafe write(handle.image.duration(policy: policy).nanosecondsRoundedUp, to: target)
  }
}

/// Implements `zoetrope_frame_index_at`, which zoetrope.h documents.
@c(zoetrope_frame_index_at)
public func frameIndexAt(
  _ animation: OpaquePointer?, _ delays: Int32, _ time: Int64,
  _ index: UnsafeMutablePointer<Int64>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let policy = try value(delays, of: delayPolicies, "delays")
    let target = try unsafe required(index, "index")
    let found = handle.image.frameIndex(at: .nanoseconds(time), policy: policy)
    unsafe write(Int64(found), to: target)
  }
}

/// Implements `zoetrope_get_damage`, which zoetrope.h documents.
@c(zoetrope_get_damage)
public func getDamage(
  _ animation: OpaquePointer?, _ index: Int64, _ damage: UnsafeMutablePointer<zoetrope_damage>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let target = try unsafe required(damage, "damage")
    let all = handle.image.damage
    guard index >= 0, index < Int64(all.count) else {
      throw AnimatedImageError(
        .parameter, "damage item \(index) does not exist; there are \(all.count) items")
    }
    unsafe write(zoetrope_damage(all[Int(index)]), to: target)
  }
}

/// Implements `zoetrope_get_metadata`, which zoetrope.h documents.
@c(zoetrope_get_metadata)
public func getMetadata(
  _ animation: OpaquePointer?, _ index: Int64, _ item: UnsafeMutablePointer<zoetrope_metadata>?,
  _ bytes: UnsafeMutableRawPointer?, _ capacity: Int, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let target = try unsafe required(item, "item")
    let all = handle.metadata
    guard index >= 0, index < Int64(all.count) else {
      throw AnimatedImageError(
        .parameter, "metadata item \(index) does not exist; there are \(all.count) items")
    }
    let found = all[Int(index)]
    if capacity != 0 {
      _ = unsafe copy(found.value, to: try required(bytes, "value"), capacity: capacity)
    }
    unsafe write(zoetrope_metadata(found), to: target)
  }
}

// MARK: - Pixels

/// Implements `zoetrope_get_layout`, which zoetrope.h documents.
@c(zoetrope_get_layout)
public func getLayout(
  _ animation: OpaquePointer?, _ rendering: UnsafePointer<zoetrope_rendering>?,
  _ layout: UnsafeMutablePointer<zoetrope_layout>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let request = try unsafe frameRequest(rendering, handle)
    var result = zoetrope_layout()
    result.width = Int64(request.size.width)
    result.height = Int64(request.size.height)
    result.bytes_per_pixel = request.bytesPerPixel
    result.bytes_per_row = request.bytesPerRow
    result.byte_count = request.bytesPerRow * request.size.height
    try unsafe writeSized(result, to: layout, "zoetrope_layout")
  }
}

/// Calls `body` with the animation and a new call. From now on, `zoetrope_cancel` can end that call.
private func decode(
  _ animation: OpaquePointer?, _ error: UnsafeMutablePointer<zoetrope_error>?,
  _ body: (AnimationHandle, DecodingCall) throws(AnimatedImageError) -> Void
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    try body(handle, try handle.calls.begin())
  }
}

/// Implements `zoetrope_frame_at_index`, which zoetrope.h documents.
@c(zoetrope_frame_at_index)
public func frameAtIndex(
  _ animation: OpaquePointer?, _ index: Int64, _ rendering: UnsafePointer<zoetrope_rendering>?,
  _ buffer: UnsafePointer<zoetrope_buffer>?, _ frame: UnsafeMutablePointer<zoetrope_frame>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe decode(animation, error) { (handle, call) throws(AnimatedImageError) in
    try unsafe draw(handle.checkFrame(index), of: handle, rendering, buffer, frame, call)
  }
}

/// Implements `zoetrope_frame_at_time`, which zoetrope.h documents.
@c(zoetrope_frame_at_time)
public func frameAtTime(
  _ animation: OpaquePointer?, _ delays: Int32, _ time: Int64,
  _ rendering: UnsafePointer<zoetrope_rendering>?, _ buffer: UnsafePointer<zoetrope_buffer>?,
  _ frame: UnsafeMutablePointer<zoetrope_frame>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe decode(animation, error) { (handle, call) throws(AnimatedImageError) in
    let policy = try value(delays, of: delayPolicies, "delays")
    let index = handle.image.frameIndex(at: .nanoseconds(time), policy: policy)
    try unsafe draw(index, of: handle, rendering, buffer, frame, call)
  }
}

private func draw(
  _ index: Int, of handle: AnimationHandle, _ rendering: UnsafePointer<zoetrope_rendering>?,
  _ buffer: UnsafePointer<zoetrope_buffer>?, _ frame: UnsafeMutablePointer<zoetrope_frame>?,
  _ call: DecodingCall
) throws(AnimatedImageError) {
  let request = try unsafe frameRequest(rendering, handle)
  let target = try unsafe PixelTarget(buffer, for: request, count: 1)
  let work = sum(handle.work(ofFrame: index), request.size.area)
  let facts = try handle.calls.run(call, work: work) { () throws(AnimatedImageError) in
    var facts = zoetrope_frame()
    try handle.withFrame(index, request, isForCaller: true, in: call) {
      (drawn, dirty) throws(AnimatedImageError) in
      facts = zoetrope_frame(drawn, dirty: dirty)
      try target.write(drawn.bitmap, in: call, of: handle)
    }
    return facts
  }
  unsafe write(facts, to: frame)
}

func frameRequest(
  _ rendering: UnsafePointer<zoetrope_rendering>?, _ handle: AnimationHandle
) throws(AnimatedImageError) -> FrameRequest {
  let given = try unsafe read(rendering, over: zoetrope_rendering(), "zoetrope_rendering")
  return try FrameRequest(given, of: handle.image)
}

/// Returns `left + right`, or `Int.max` if the sum overflows.
private func sum(_ left: Int, _ right: Int) -> Int {
  let (sum, overflow) = left.addingReportingOverflow(right)
  return overflow ? .max : sum
}

/// Implements `zoetrope_read_frames`, which zoetrope.h documents.
@c(zoetrope_read_frames)
public func readFrames(
  _ animation: OpaquePointer?, _ indices: UnsafePointer<Int64>?, _ count: Int,
  _ rendering: UnsafePointer<zoetrope_rendering>?, _ buffer: UnsafePointer<zoetrope_buffer>?,
  _ frames: UnsafeMutablePointer<zoetrope_frame>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe decode(animation, error) { (handle, call) throws(AnimatedImageError) in
    guard count != 0 else { return }
    guard count > 0, count <= 1 << 24 else {
      throw AnimatedImageError(
        .parameter, "count is \(UInt(bitPattern: count)); it must be 0 to \(1 << 24)")
    }
    var wanted: [Int] = []
    if let indices = unsafe indices {
      for index in unsafe numbers(indices, count: count) {
        wanted.append(try handle.checkFrame(index))
      }
    } else {
      guard count <= handle.image.frames.count else {
        throw AnimatedImageError(
          .parameter, "count is \(count), but there are \(handle.image.frames.count) frames")
      }
      wanted = Array(0..<count)
    }
    let request = try unsafe frameRequest(rendering, handle)
    try unsafe draw(wanted, of: handle, request, buffer, frames, call)
  }
}

private func draw(
  _ indices: [Int], of handle: AnimationHandle, _ request: FrameRequest,
  _ buffer: UnsafePointer<zoetrope_buffer>?, _ frames: UnsafeMutablePointer<zoetrope_frame>?,
  _ call: DecodingCall
) throws(AnimatedImageError) {
  let target = try unsafe PixelTarget(buffer, frames, for: request, count: indices.count)
  // The indices are sorted, which takes time as well. The products fit in an `Int`: a frame has fewer than 2^32 pixels,
  // and there are at most 2^24 frames.
  let work = sum(
    handle.work(ofFramesUpTo: indices.max() ?? 0), indices.count * (request.size.area + 16))
  try handle.calls.run(call, work: work) { () throws(AnimatedImageError) in
    try handle.forEachFrame(indices, request, in: call) {
      (place, drawn) throws(AnimatedImageError) in
      let facts = zoetrope_frame(drawn, dirty: PixelRect(request.size))
      try target.write(drawn.bitmap, facts, at: place, in: call, of: handle)
    }
  }
}

/// Implements `zoetrope_sample_indices`, which zoetrope.h documents.
@c(zoetrope_sample_indices)
public func sampleIndices(
  _ animation: OpaquePointer?, _ by: Int32, _ delays: Int32, _ count: Int,
  _ indices: UnsafeMutablePointer<Int64>?, _ found: UnsafeMutablePointer<Int>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe write(0, to: found)
  return unsafe decode(animation, error) { (handle, call) throws(AnimatedImageError) in
    let policy = try value(delays, of: delayPolicies, "delays")
    let target = try unsafe required(indices, "indices")
    let counter = try unsafe required(found, "found")
    let chosen = try handle.sampleIndices(by, count: count, policy, in: call)
    for (place, index) in chosen.enumerated() { unsafe write(Int64(index), to: target + place) }
    unsafe write(chosen.count, to: counter)
  }
}

/// Implements `zoetrope_sample`, which zoetrope.h documents.
@c(zoetrope_sample)
public func sample(
  _ animation: OpaquePointer?, _ by: Int32, _ delays: Int32, _ count: Int,
  _ rendering: UnsafePointer<zoetrope_rendering>?, _ buffer: UnsafePointer<zoetrope_buffer>?,
  _ frames: UnsafeMutablePointer<zoetrope_frame>?, _ found: UnsafeMutablePointer<Int>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe write(0, to: found)
  return unsafe decode(animation, error) { (handle, call) throws(AnimatedImageError) in
    let policy = try value(delays, of: delayPolicies, "delays")
    let counter = try unsafe required(found, "found")
    let request = try unsafe frameRequest(rendering, handle)
    let chosen = try handle.sampleIndices(by, count: count, policy, in: call)
    try unsafe draw(chosen, of: handle, request, buffer, frames, call)
    unsafe write(chosen.count, to: counter)
  }
}

/// Bytes that are passed to C. A `zoetrope_bytes` points to this object.
final class ByteHandle: Sendable {
  let bytes: [UInt8]
  init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// Implements `zoetrope_frame_png`, which zoetrope.h documents.
@c(zoetrope_frame_png)
public func framePNG(
  _ animation: OpaquePointer?, _ index: Int64, _ rendering: UnsafePointer<zoetrope_rendering>?,
  _ bytes: UnsafeMutablePointer<OpaquePointer?>?, _ frame: UnsafeMutablePointer<zoetrope_frame>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe write(nil, to: bytes)
  return unsafe decode(animation, error) { (handle, call) throws(AnimatedImageError) in
    let target = try unsafe required(bytes, "bytes")
    let index = try handle.checkFrame(index)
    var given = try unsafe read(rendering, over: zoetrope_rendering(), "zoetrope_rendering")
    _ = try FrameRequest(given, of: handle.image)
    if given.format != Int32(ZOETROPE_RGBA16) { given.format = Int32(ZOETROPE_RGBA8) }
    let request = try FrameRequest(given, of: handle.image)
    // Encoding a pixel takes about eight times as long as decoding a pixel.
    let work = sum(handle.work(ofFrame: index), request.size.area * 8)
    let (png, facts) = try handle.calls.run(call, work: work) {
      () throws(AnimatedImageError) in
      var drawnBitmap: Bitmap?
      var facts = zoetrope_frame()
      try handle.withFrame(index, request, in: call) {
        (drawn, dirty) throws(AnimatedImageError) in
        drawnBitmap = drawn.bitmap
        facts = zoetrope_frame(drawn, dirty: dirty)
      }
      try call.check()
      return (
        try drawnBitmap.map { bitmap throws(AnimatedImageError) in try PNGEncoder().encode(bitmap) }
          ?? [], facts
      )
    }
    unsafe write(ZoetropeC.handle(owning: ByteHandle(png)), to: target)
    unsafe write(facts, to: frame)
  }
}

/// Implements `zoetrope_bytes_count`, which zoetrope.h documents.
@c(zoetrope_bytes_count)
public func bytesCount(_ bytes: OpaquePointer?) -> Int {
  (try? unsafe object(bytes, ByteHandle.self, "bytes"))?.bytes.count ?? 0
}

/// Implements `zoetrope_bytes_copy`, which zoetrope.h documents.
@c(zoetrope_bytes_copy)
public func bytesCopy(
  _ bytes: OpaquePointer?, _ buffer: UnsafeMutableRawPointer?, _ capacity: Int
) -> Int {
  guard let held = try? unsafe object(bytes, ByteHandle.self, "bytes"),
    let buffer = unsafe buffer
  else { return 0 }
  return unsafe copy(held.bytes, to: buffer, capacity: capacity)
}

/// Implements `zoetrope_bytes_free`, which zoetrope.h documents.
@c(zoetrope_bytes_free)
public func bytesFree(_ bytes: OpaquePointer?) { unsafe _ = release(bytes, ByteHandle.self) }
