/// The source of frames that have not arrived yet.
package protocol FrameArrivals: AnyObject, Sendable {
  /// Returns what has arrived after the first `known` frames.
  func arrival(after known: Int) -> FrameArrival
  /// Waits until frame `index` has arrived or no more frames will; false if the task is cancelled first.
  func waitForFrame(_ index: Int) async -> Bool
  /// Notifies `observer` of further arrivals. It may already have missed some.
  func add(_ observer: any ArrivalObserver)
}

/// An object that is notified when more of an image can be played.
package protocol ArrivalObserver: AnyObject, Sendable {
  /// Called, with no lock held, when frames have arrived or it is known that no more will.
  func framesArrived()
}

/// The part of an image that has arrived since the last check.
package struct FrameArrival: Sendable {
  /// The new frames.
  package var frames: [FrameControl]
  /// The play count as known so far.
  package var playCount: PlayCount
  /// Whether more frames may follow.
  package var isOpen: Bool
  /// The error because of which no more frames will follow; nil if there is none.
  package var error: AnimatedImageError?

  package init(
    frames: [FrameControl], playCount: PlayCount, isOpen: Bool, error: AnimatedImageError? = nil
  ) {
    self.frames = frames
    self.playCount = playCount
    self.isOpen = isOpen
    self.error = error
  }
}
