"""What the folder of a stream keeps beside Spark's own files: the number of its key groups, and a rescale that is under
way.
"""
