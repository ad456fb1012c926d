public import CZoetrope
internal import SystemPackage
internal import Zoetrope

// Functions for stores, which keep decoded frames on disk.
//
// Unsafe: arguments come from C, under the header's contract; `ForeignMemory` checks and copies them. The caller gets a
// pointer to the bytes of a bitmap. These bytes neither move nor change until the caller frees the lease.

/// Implements `zoetrope_store_open`, which zoetrope.h documents.
@c(zoetrope_store_open)
public func storeOpen(
  _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<zoetrope_store_options>?,
  _ store: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe write(nil, to: store)
  return unsafe attempt(error) { () throws(AnimatedImageError) in
    let target = try unsafe required(store, "store")
    let options = try unsafe read(options, over: zoetrope_store_options(), "zoetrope_store_options")
    guard options.byte_limit >= 0 else {
      throw AnimatedImageError(
        .parameter, "byte_limit is \(options.byte_limit); it must be 0 or more")
    }
    guard
      let path = unsafe path.map({ unsafe FilePath(platformString: $0) })
        ?? FrameStore.defaultDirectory
    else {
      throw AnimatedImageError(.parameter, "path is NULL, and the user has no home directory")
    }
    let limit = options.byte_limit
    let opened = try limit == 0 ? FrameStore(at: path) : FrameStore(at: path, byteLimit: Int(limit))
    unsafe write(handle(owning: opened), to: target)
  }
}

/// Implements `zoetrope_store_close`, which zoetrope.h documents.
@c(zoetrope_store_close)
public func storeClose(_ store: OpaquePointer?) {
  guard !ForkGuard.isForked else { return }
  unsafe _ = release(store, FrameStore.self)
}

/// Implements `zoetrope_store_frame`, which zoetrope.h documents.
@c(zoetrope_store_frame)
public func storeFrame(
  _ store: OpaquePointer?, _ animation: OpaquePointer?, _ index: Int64,
  _ rendering: UnsafePointer<zoetrope_rendering>?,
  _ frame: UnsafeMutablePointer<zoetrope_stored_frame>?,
  _ lease: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe lend(store, animation, index, rendering, frame, lease, error) {
    (request) throws(AnimatedImageError) in
    if let found = try request.find() { return (found, true) }
    return try request.draw()
  }
}

/// Implements `zoetrope_store_find`, which zoetrope.h documents.
@c(zoetrope_store_find)
public func storeFind(
  _ store: OpaquePointer?, _ animation: OpaquePointer?, _ index: Int64,
  _ rendering: UnsafePointer<zoetrope_rendering>?,
  _ frame: UnsafeMutablePointer<zoetrope_stored_frame>?,
  _ lease: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe lend(store, animation, index, rendering, frame, lease, error) {
    (request) throws(AnimatedImageError) in
    try request.find().map { ($0, true) }
  }
}

/// Keeps the pixels of a frame alive. A `zoetrope_lease` points to this object.
private final class LeaseHandle: Sendable {
  let frame: CachedFrame
  init(_ frame: CachedFrame) { self.frame = frame }
}

/// Calls `body`, and passes the resulting frame to the caller, with a lease. If `body` returns nil, the lease is NULL.
private func lend(
  _ store: OpaquePointer?, _ animation: OpaquePointer?, _ index: Int64,
  _ rendering: UnsafePointer<zoetrope_rendering>?,
  _ frame: UnsafeMutablePointer<zoetrope_stored_frame>?,
  _ lease: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<zoetrope_error>?,
  _ body: (StoreRequest) throws(AnimatedImageError) -> (frame: CachedFrame, isStored: Bool)?
) -> zoetrope_status {
  unsafe write(nil, to: lease)
  return unsafe attempt(error) { () throws(AnimatedImageError) in
    let target = try unsafe required(lease, "lease")
    // Check the struct before a frame is drawn.
    try unsafe writeSized(zoetrope_stored_frame(), to: frame, "zoetrope_stored_frame")
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let call = try handle.calls.begin()
    let request = StoreRequest(
      store: try unsafe object(store, FrameStore.self, "store"), handle: handle,
      index: try handle.checkFrame(index),
      request: try unsafe storedRequest(rendering, handle), call: call)
    guard let found = try body(request) else { return }
    let held = LeaseHandle(found.frame)
    let bitmap = held.frame.bitmap
    var result = unsafe zoetrope_stored_frame()
    unsafe result.pixels = bitmap.bytes.withUnsafeBytes { $0.baseAddress }
    unsafe result.bytes_per_row = bitmap.bytesPerRow
    unsafe result.width = Int64(bitmap.width)
    unsafe result.height = Int64(bitmap.height)
    unsafe result.is_stored = found.isStored ? 1 : 0
    unsafe result.damage = zoetrope_damage(found.frame.damage)
    try unsafe writeSized(result, to: frame, "zoetrope_stored_frame")
    unsafe write(ZoetropeC.handle(owning: held), to: target)
  }
}

/// Returns the size and the rendering of a stored frame.
private func storedRequest(
  _ rendering: UnsafePointer<zoetrope_rendering>?, _ handle: AnimationHandle
) throws(AnimatedImageError) -> FrameRequest {
  let request = try unsafe frameRequest(rendering, handle)
  guard request.bytesPerPixel == request.rendering.format?.bytesPerPixel else {
    throw AnimatedImageError(
      .parameter, "ZOETROPE_RGB8 cannot be stored: use ZOETROPE_RGBX8 and ignore the fourth byte")
  }
  return request
}

/// A request for a frame of a store.
private struct StoreRequest: Sendable {
  let store: FrameStore
  let handle: AnimationHandle
  let index: Int
  let request: FrameRequest
  let call: DecodingCall

  private func key() throws(AnimatedImageError) -> FrameKey {
    let image = handle.image
    let rendition = Rendition(request.rendering, of: image.canvasSize, options: image.options)
    return AnimationKey(
      content: try handle.identity(in: store, call), rendition: rendition)[index]
  }

  /// Returns the frame if it is stored, and nil if it is missing. Does not wait for other calls.
  ///
  /// A miss is not counted here, but once the frame has to be decoded.
  func find() throws(AnimatedImageError) -> CachedFrame? {
    store.frame(for: try key(), countsMiss: false)
  }

  /// Decodes the frame, and stores it if possible.
  func draw() throws(AnimatedImageError) -> (frame: CachedFrame, isStored: Bool) {
    let key = try key()
    let (sum, overflow) = handle.work(ofFrame: index).addingReportingOverflow(request.size.area)
    return try handle.calls.run(call, work: overflow ? .max : sum) {
      () throws(AnimatedImageError) in
      // Another call may have stored the frame while this one waited.
      if let found = store.frame(for: key, countsMiss: true) { return (found, true) }
      var result: (CachedFrame, Bool)?
      try handle.withFrame(index, request, in: call) { (drawn, _) throws(AnimatedImageError) in
        let frame = CachedFrame(drawn.bitmap, damage: drawn.damage)
        // If the animation's file has been overwritten since, these pixels do not belong to the bytes that the key
        // identifies.
        if handle.image.isUnchanged { store.storeIfPossible(frame, for: key) }
        result = store.lookUp(key).map { ($0, true) } ?? (frame, false)
      }
      guard let result else { throw AnimatedImageError(.cancelled, "stopped before decoding") }
      return result
    }
  }
}

extension AnimationHandle {
  /// Returns the identity of the image's bytes in `store`.
  fileprivate func identity(
    in store: FrameStore, _ call: DecodingCall
  ) throws(AnimatedImageError) -> ContentIdentity {
    // Only a reader that the caller implements can take long without checking for cancellation.
    guard image.source is ForeignSource else {
      do throws(AnimatedImageError) {
        return try store.identity(of: image) { call.isCancelled }
      } catch {
        throw error.code == .cancelled ? call.reason : error
      }
    }
    return try calls.run(call, work: .max) { [self] () throws(AnimatedImageError) in
      try store.identity(of: image) { call.isCancelled }
    }
  }
}

/// Implements `zoetrope_lease_free`, which zoetrope.h documents.
@c(zoetrope_lease_free)
public func leaseFree(_ lease: OpaquePointer?) {
  guard !ForkGuard.isForked else { return }
  unsafe _ = release(lease, LeaseHandle.self)
}

/// Implements `zoetrope_store_fill`, which zoetrope.h documents.
@c(zoetrope_store_fill)
public func storeFill(
  _ store: OpaquePointer?, _ animation: OpaquePointer?,
  _ rendering: UnsafePointer<zoetrope_rendering>?, _ count: UnsafeMutablePointer<Int64>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe write(0, to: count)
  return unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let call = try handle.calls.begin()
    let store = try unsafe object(store, FrameStore.self, "store")
    let request = try unsafe storedRequest(rendering, handle)
    let stored = try handle.calls.run(call, work: .max) { () throws(AnimatedImageError) in
      try store.prefetch(of: handle.image, renderings: [request.rendering]) { call.isCancelled }
    }
    unsafe write(Int64(stored), to: count)
  }
}

/// Implements `zoetrope_store_remove`, which zoetrope.h documents.
@c(zoetrope_store_remove)
public func storeRemove(
  _ store: OpaquePointer?, _ animation: OpaquePointer?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let store = try unsafe object(store, FrameStore.self, "store")
    try store.checkWritable()
    guard unsafe animation != nil else { return store.removeAll() }
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    store.remove(try handle.identity(in: store, handle.calls.begin()))
  }
}

/// Implements `zoetrope_store_prune`, which zoetrope.h documents.
@c(zoetrope_store_prune)
public func storePrune(
  _ store: OpaquePointer?, _ byteCount: Int64, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let store = try unsafe object(store, FrameStore.self, "store")
    guard byteCount >= 0 else {
      throw AnimatedImageError(.parameter, "byte_count is \(byteCount); it must be 0 or more")
    }
    try store.prune(to: Int(byteCount))
  }
}

/// Implements `zoetrope_store_get_statistics`, which zoetrope.h documents.
@c(zoetrope_store_get_statistics)
public func storeGetStatistics(
  _ store: OpaquePointer?, _ statistics: UnsafeMutablePointer<zoetrope_store_statistics>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let store = try unsafe object(store, FrameStore.self, "store")
    let found = store.statistics
    var result = zoetrope_store_statistics()
    result.frame_count = Int64(found.frameCount)
    result.byte_count = Int64(found.byteCount)
    result.byte_limit = Int64(store.byteLimit)
    result.hits = Int64(found.hits)
    result.misses = Int64(found.misses)
    result.insertions = Int64(found.insertions)
    result.is_read_only = store.isReadOnly ? 1 : 0
    try unsafe writeSized(result, to: statistics, "zoetrope_store_statistics")
  }
}
