public import CZoetrope
internal import Zoetrope

// Unsafe: arguments from C, under the header's contract. `ForeignMemory` checks and copies them.

/// `zoetrope_get_info` of the header.
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

/// `zoetrope_get_frames` of the header.
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
        "first is \(first) and count \(UInt(bitPattern: count)), there are \(total) frames")
    }
    guard elementSize >= 8, elementSize <= 4096 else {
      throw AnimatedImageError(
        .parameter,
        "element_size is \(UInt(bitPattern: elementSize)): set it to sizeof(zoetrope_frame_info)")
    }
    guard count > 0 else { return }
    let target = try unsafe UnsafeMutableRawPointer(required(frames, "frames"))
    // Of rounded starts, so that they and the durations add up.
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

/// `zoetrope_get_duration` of the header.
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

/// `zoetrope_frame_index_at` of the header.
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

/// `zoetrope_get_damage` of the header.
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
      throw AnimatedImageError(.parameter, "no damage \(index), there are \(all.count)")
    }
    unsafe write(zoetrope_damage(all[Int(index)]), to: target)
  }
}

/// `zoetrope_get_metadata` of the header.
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
      throw AnimatedImageError(.parameter, "no metadata \(index), there are \(all.count)")
    }
    let found = all[Int(index)]
    if capacity != 0 {
      _ = unsafe copy(found.value, to: try required(bytes, "value"), capacity: capacity)
    }
    unsafe write(zoetrope_metadata(found), to: target)
  }
}
