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

/// `zoetrope_frame_at_index` of the header.
@c(zoetrope_frame_at_index)
public func frameAtIndex(
  _ animation: OpaquePointer?, _ index: Int64, _ rendering: UnsafePointer<zoetrope_rendering>?,
  _ buffer: UnsafePointer<zoetrope_buffer>?, _ frame: UnsafeMutablePointer<zoetrope_frame>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    try unsafe draw(handle.checkFrame(index), of: handle, rendering, buffer, frame)
  }
}

/// `zoetrope_frame_at_time` of the header.
@c(zoetrope_frame_at_time)
public func frameAtTime(
  _ animation: OpaquePointer?, _ delays: Int32, _ time: Int64,
  _ rendering: UnsafePointer<zoetrope_rendering>?, _ buffer: UnsafePointer<zoetrope_buffer>?,
  _ frame: UnsafeMutablePointer<zoetrope_frame>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let policy = try value(delays, of: delayPolicies, "delays")
    let index = handle.image.frameIndex(at: .nanoseconds(time), policy: policy)
    try unsafe draw(index, of: handle, rendering, buffer, frame)
  }
}

private func draw(
  _ index: Int, of handle: AnimationHandle, _ rendering: UnsafePointer<zoetrope_rendering>?,
  _ buffer: UnsafePointer<zoetrope_buffer>?, _ frame: UnsafeMutablePointer<zoetrope_frame>?
) throws(AnimatedImageError) {
  let request = try unsafe frameRequest(rendering, handle)
  let target = try unsafe PixelTarget(buffer, for: request, count: 1)
  try handle.withFrame(index, request) { drawn, dirty in
    target.write(drawn.bitmap)
    unsafe write(zoetrope_frame(drawn, dirty: dirty), to: frame)
  }
}

private func frameRequest(
  _ rendering: UnsafePointer<zoetrope_rendering>?, _ handle: AnimationHandle
) throws(AnimatedImageError) -> FrameRequest {
  let given = try unsafe read(rendering, over: zoetrope_rendering(), "zoetrope_rendering")
  return try FrameRequest(given, of: handle.image)
}

/// `zoetrope_read_frames` of the header.
@c(zoetrope_read_frames)
public func readFrames(
  _ animation: OpaquePointer?, _ indices: UnsafePointer<Int64>?, _ count: Int,
  _ rendering: UnsafePointer<zoetrope_rendering>?, _ buffer: UnsafePointer<zoetrope_buffer>?,
  _ frames: UnsafeMutablePointer<zoetrope_frame>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
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
    try unsafe draw(wanted, of: handle, frameRequest(rendering, handle), buffer, frames)
  }
}

private func draw(
  _ indices: [Int], of handle: AnimationHandle, _ request: FrameRequest,
  _ buffer: UnsafePointer<zoetrope_buffer>?, _ frames: UnsafeMutablePointer<zoetrope_frame>?
) throws(AnimatedImageError) {
  let target = try unsafe PixelTarget(buffer, for: request, count: indices.count)
  try handle.forEachFrame(indices, request) { place, drawn in
    target.write(drawn.bitmap, at: place)
    if let frames = unsafe frames {
      unsafe write(zoetrope_frame(drawn, dirty: PixelRect(request.size)), to: frames + place)
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
  return unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let policy = try value(delays, of: delayPolicies, "delays")
    let target = try unsafe required(indices, "indices")
    let counter = try unsafe required(found, "found")
    let chosen = try handle.sampleIndices(by, count: count, policy)
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
  return unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let policy = try value(delays, of: delayPolicies, "delays")
    let counter = try unsafe required(found, "found")
    let request = try unsafe frameRequest(rendering, handle)
    let chosen = try handle.sampleIndices(by, count: count, policy)
    try unsafe draw(chosen, of: handle, request, buffer, frames)
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
  return unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let target = try unsafe required(bytes, "bytes")
    let index = try handle.checkFrame(index)
    var given = try unsafe read(rendering, over: zoetrope_rendering(), "zoetrope_rendering")
    _ = try FrameRequest(given, of: handle.image)
    if given.format != Int32(ZOETROPE_RGBA16) { given.format = Int32(ZOETROPE_RGBA8) }
    let request = try FrameRequest(given, of: handle.image)
    let png = try handle.png(index, request) { drawn, dirty in
      unsafe write(zoetrope_frame(drawn, dirty: dirty), to: frame)
    }
    unsafe write(ZoetropeC.handle(owning: ByteHandle(png)), to: target)
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
