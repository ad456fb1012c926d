/// The source of frames that have not arrived yet.
package protocol FrameArrivals: AnyObject, Sendable {
  /// What has arrived after the first `known` frames.
  func arrival(after known: Int) -> FrameArrival
  /// Waits until frame `index` has arrived or no further one will; false if the task is cancelled first.
  func waitForFrame(_ index: Int) async -> Bool
  /// Notifies `observer` of further arrivals, some of which it may have missed already.
  func add(_ observer: any ArrivalObserver)
}

/// Is notified when more of an image can be played.
package protocol ArrivalObserver: AnyObject, Sendable {
  /// Frames have arrived, or no further ones will. Called with no lock held.
  func framesArrived()
}

/// The part of an image that has arrived since the last check.
package struct FrameArrival: Sendable {
  /// The frames that are new.
  package var frames: [FrameControl]
  /// The play count as known so far.
  package var playCount: PlayCount
  /// Whether more frames may follow.
  package var isOpen: Bool
  /// Why no more will, if that is a failure.
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
