public import CZoetrope
internal import Zoetrope

// Unsafe: arguments from C, under the header's contract. `ForeignMemory` checks and copies them.

/// `zoetrope_get_layout` of the header.
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

/// Calls `body` with the animation and its call, which `zoetrope_cancel` ends from here on.
private func decode(
  _ animation: OpaquePointer?, _ error: UnsafeMutablePointer<zoetrope_error>?,
  _ body: (AnimationHandle, DecodingCall) throws(AnimatedImageError) -> Void
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    try body(handle, try handle.calls.begin())
  }
}

/// `zoetrope_frame_at_index` of the header.
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

/// `zoetrope_frame_at_time` of the header.
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
    try handle.withFrame(index, request, in: call) { (drawn, dirty) throws(AnimatedImageError) in
      facts = zoetrope_frame(drawn, dirty: dirty)
      try target.write(drawn.bitmap, in: call, of: handle)
    }
    return facts
  }
  unsafe write(facts, to: frame)
}

private func frameRequest(
  _ rendering: UnsafePointer<zoetrope_rendering>?, _ handle: AnimationHandle
) throws(AnimatedImageError) -> FrameRequest {
  let given = try unsafe read(rendering, over: zoetrope_rendering(), "zoetrope_rendering")
  return try FrameRequest(given, of: handle.image)
}

/// `left + right`, at most `Int.max`.
private func sum(_ left: Int, _ right: Int) -> Int {
  let (sum, overflow) = left.addingReportingOverflow(right)
  return overflow ? .max : sum
}

/// `zoetrope_read_frames` of the header.
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
        .parameter, "count is \(UInt(bitPattern: count)), must be 0 to \(1 << 24)")
    }
    var wanted: [Int] = []
    if let indices = unsafe indices {
      for index in unsafe numbers(indices, count: count) {
        wanted.append(try handle.checkFrame(index))
      }
    } else {
      guard count <= handle.image.frames.count else {
        throw AnimatedImageError(
          .parameter, "count is \(count), there are \(handle.image.frames.count) frames")
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
  // Sorting takes time, too. Frames are smaller than 2^32 pixels, and there are at most 2^24.
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

/// `zoetrope_sample_indices` of the header.
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

/// `zoetrope_sample` of the header.
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

/// Bytes for C: what a `zoetrope_bytes` points to.
private final class ByteHandle: Sendable {
  let bytes: [UInt8]
  init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// `zoetrope_frame_png` of the header.
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
    // Encoding a pixel takes some eight times as long as decoding one.
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

/// `zoetrope_bytes_count` of the header.
@c(zoetrope_bytes_count)
public func bytesCount(_ bytes: OpaquePointer?) -> Int {
  (try? unsafe object(bytes, ByteHandle.self, "bytes"))?.bytes.count ?? 0
}

/// `zoetrope_bytes_copy` of the header.
@c(zoetrope_bytes_copy)
public func bytesCopy(
  _ bytes: OpaquePointer?, _ buffer: UnsafeMutableRawPointer?, _ capacity: Int
) -> Int {
  guard let held = try? unsafe object(bytes, ByteHandle.self, "bytes"),
    let buffer = unsafe buffer
  else { return 0 }
  return unsafe copy(held.bytes, to: buffer, capacity: capacity)
}

/// `zoetrope_bytes_free` of the header.
@c(zoetrope_bytes_free)
public func bytesFree(_ bytes: OpaquePointer?) { unsafe _ = release(bytes, ByteHandle.self) }
