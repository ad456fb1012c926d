internal import Synchronization

/// The contents of a ``FrameStore``, and the counters of this process.
public struct FrameStoreStatistics: Sendable, Hashable {
  /// The frames of one size and pixel format, or of one ``FrameFormat``.
  package struct Table: Sendable, Hashable {
    /// The name of the ``FrameFormat``; nil if it is the table of a size and pixel format.
    package let name: String?
    /// The size of the frames; in the table of a ``FrameFormat``, the size of the largest possible frame.
    package let size: PixelSize
    /// The pixel format of the frames.
    package let format: PixelFormat
    /// Number of frames stored.
    package let frameCount: Int
    /// The maximum number of frames.
    package let capacity: Int
    /// Bytes on disk.
    package let byteCount: Int
  }

  /// Number of frames stored, in all sizes and formats.
  public internal(set) var frameCount = 0
  /// Bytes on disk, of all tables. ``FrameStore/byteLimit`` limits them.
  public internal(set) var byteCount = 0
  /// The number of records about files, which are kept separately from frames.
  package internal(set) var recordCount = 0
  /// Bytes on disk, of all records; at most 32 MiB.
  package internal(set) var recordByteCount = 0
  /// The tables.
  package internal(set) var tables: [Table] = []
  /// Lookups by this process that found a frame.
  public internal(set) var hits = 0
  /// Lookups by this process that found none.
  public internal(set) var misses = 0
  /// Frames stored by this process.
  public internal(set) var insertions = 0

  /// Hits divided by lookups, 0 to 1; 0 before the first lookup. A `MemoryFrameCache` in front of a store counts frames
  /// that come from the store as misses.
  public var hitRate: Double {
    hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses)
  }
}
