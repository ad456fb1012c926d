internal import Synchronization

/// The contents of a ``FrameStore``, and the numbers of frames that this process looked up and stored.
public struct FrameStoreStatistics: Sendable, Hashable {
  /// The statistics of one table, which holds the frames of one size and pixel format, or of one ``FrameFormat``.
  package struct Table: Sendable, Hashable {
    /// The name of the ``FrameFormat``, or nil if this is the table of a size and pixel format.
    package let name: String?
    /// The size of the frames, or in the table of a ``FrameFormat``, the size of the largest possible frame.
    package let size: PixelSize
    /// The pixel format of the frames.
    package let format: PixelFormat
    /// The number of frames stored in the table.
    package let frameCount: Int
    /// The maximum number of frames that the table can hold.
    package let capacity: Int
    /// The number of bytes that the table takes on disk.
    package let byteCount: Int
  }

  /// The number of frames stored, in all sizes and formats.
  public internal(set) var frameCount = 0
  /// The number of bytes that all tables take on disk, which ``FrameStore/byteLimit`` limits.
  public internal(set) var byteCount = 0
  /// The number of records about files. Records are kept separately from frames.
  package internal(set) var recordCount = 0
  /// The number of bytes that all records take on disk, at most 32 MiB.
  package internal(set) var recordByteCount = 0
  /// The statistics of each table.
  package internal(set) var tables: [Table] = []
  /// The number of lookups by this process that found a frame.
  public internal(set) var hits = 0
  /// The number of lookups by this process that found no frame.
  public internal(set) var misses = 0
  /// The number of frames stored by this process.
  public internal(set) var insertions = 0

  /// The number of hits divided by the number of lookups, from 0 to 1, or 0 before the first lookup. A
  /// `MemoryFrameCache` in front of a store has statistics of its own, in which a frame that comes from the store
  /// counts as a miss.
  public var hitRate: Double {
    hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses)
  }
}
