/// The source of the frames of an image that have not arrived yet.
package protocol FrameArrivals: AnyObject, Sendable {
  /// Returns the part of the image that has arrived after the first frames, which the caller already knows. `known` is
  /// the number of these frames.
  func arrival(after known: Int) -> FrameArrival
  /// Waits until frame `index` has arrived or it is known that no more frames will arrive. Returns false if the task is
  /// cancelled first.
  func waitForFrame(_ index: Int) async -> Bool
  /// Notifies `observer` whenever more of the image arrives from now on. Frames that arrived before this call are not
  /// reported.
  func add(_ observer: any ArrivalObserver)
}

/// An object that is notified when more of an image can be played.
package protocol ArrivalObserver: AnyObject, Sendable {
  /// Called, with no lock held, when frames have arrived or when it becomes known that no more frames will arrive.
  func framesArrived()
}

/// The part of an image that has arrived since the previous check.
package struct FrameArrival: Sendable {
  /// The frames that have arrived since the previous check.
  package var frames: [FrameControl]
  /// The play count that is known so far.
  package var playCount: PlayCount
  /// Whether more frames may follow.
  package var isOpen: Bool
  /// The error that prevents further frames from arriving, or nil if there is none.
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
